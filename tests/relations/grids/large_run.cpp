#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <ctime>
#include <numeric>

#include <perp/core/base/error.hpp>
#include <perp/core/base/index.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/system_schemes.hpp>
#include <perp/tests/relations/grids/large_run.hpp>

namespace perp::relations {
namespace {

constexpr double rounding = 0x1p-40;  ///< of the terms of a row; each has some 30, of 2^-53
constexpr double closeness = 1e-9;    ///< of states, relative to the largest of each variable

/// A sum with the sizes of its terms.
struct LongSum {
  long double value = 0, sizes = 0;
  void add(long double term) {
    value += term;
    sizes += std::abs(term);
  }
  [[nodiscard]] double bound() const { return rounding * static_cast<double>(sizes); }
  [[nodiscard]] bool is_zero() const { return std::abs(static_cast<double>(value)) <= bound(); }
};

/// One step of a run.
class Step {
 public:
  Step(const LargeModel& model, const Trajectory& run, std::size_t k)
      : model_(model), before_(run.x[k]), x_(run.x[k + 1]), lambda_(run.lambda[k + 1]), t_(run.t[k + 1]), h_(run.t[k + 1] - run.t[k]) {}

  /// h A x + h b + h B λ - E (x - x_k), to the rounding of its terms and of h.
  [[nodiscard]] std::string rows() const {
    std::vector<LongSum> sums(at(model_.n()));
    const long double swing = std::cos(static_cast<long double>(model_.omega) * t_);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i].add(h_ * static_cast<long double>(model_.b[i]));
      sums[i].add(h_ * model_.s[i] * swing);
    }
    for (const LargeModel::Entry& entry : model_.A) sums[at(entry.row)].add(h_ * static_cast<long double>(entry.value) * x_[entry.column]);
    for (std::size_t l = 0; l < model_.laws.size(); ++l)
      sums[at(model_.laws[l].row)].add(h_ * static_cast<long double>(model_.laws[l].B) * lambda_[static_cast<Eigen::Index>(l)]);
    for (LongSum& sum : sums) sum.sizes *= 1 + 4 * std::abs(t_ / h_) * 0x1p-13L;  // of the length, in 2^-40
    for (const LargeModel::Entry& entry : model_.E) {
      sums[at(entry.row)].add(-static_cast<long double>(entry.value) * x_[entry.column]);
      sums[at(entry.row)].add(static_cast<long double>(entry.value) * before_[entry.column]);
    }
    for (std::size_t i = 0; i < sums.size(); ++i)
      if (!sums[i].is_zero())
        return fmt::format("row {} at t = {:.12g}: {:.3g} of terms {:.3g}", i, t_, static_cast<double>(sums[i].value),
                           static_cast<double>(sums[i].sizes));
    return {};
  }

  /// (w, λ) on the graph of each law. What is 0 of λ is known to the rounding of its row.
  [[nodiscard]] std::string laws() const {
    std::vector<double> terms(at(model_.n()));
    for (const LargeModel::Entry& entry : model_.A) terms[at(entry.row)] += std::abs(h_ * entry.value * x_[entry.column]);
    for (const LargeModel::Entry& entry : model_.E) terms[at(entry.row)] += std::abs(entry.value) * (std::abs(x_[entry.column]) + std::abs(before_[entry.column]));
    for (std::size_t l = 0; l < model_.laws.size(); ++l) {
      const LargeModel::Law& law = model_.laws[l];
      LongSum w;
      w.add(static_cast<long double>(law.c) * x_[law.column]);
      w.add(law.q);
      w.add(law.p * std::cos(static_cast<long double>(model_.omega) * t_));
      const double lambda = lambda_[static_cast<Eigen::Index>(l)], near = rounding * terms[at(law.row)] / std::abs(h_ * law.B);
      if (!is_on(law, static_cast<double>(w.value), lambda, w.bound(), near))
        return fmt::format("law {} at t = {:.12g}: w = {:.6g}, lambda = {:.6g}", l, t_, static_cast<double>(w.value), lambda);
    }
    return {};
  }

 private:
  static bool is_on(const LargeModel::Law& law, double w, double lambda, double near_w, double near_lambda) {
    const double f = law.force;
    if (f == 0) return w >= -near_w && lambda >= -near_lambda && (w <= near_w || lambda <= near_lambda);
    const double near = near_lambda + rounding * f;
    if (!(std::abs(lambda) <= f + near)) return false;
    return std::abs(w) <= near_w || std::abs(lambda - std::copysign(f, w)) <= near;
  }

  const LargeModel& model_;
  Vector before_, x_, lambda_;
  double t_, h_;
};

double state_bits(const LargePlaces& by, std::size_t j, const Vector& there) { return by.factors[j] * there[by.variables[j]]; }

/// The largest |x_j| of each variable; of small ones a part of the largest of all.
Vector sizes_of(const Trajectory& run) {
  Vector size = run.x.front().cwiseAbs();
  for (const Vector& x : run.x) size = size.cwiseMax(x.cwiseAbs());
  return size.cwiseMax(1e-3 * size.maxCoeff());
}

}  // namespace

Vector LargeRun::at(double t, double near) const {
  const auto behind = std::upper_bound(run.t.begin(), run.t.end(), t + near);
  if (behind == run.t.begin() || *(behind - 1) < t - near) return {};
  return run.x[static_cast<std::size_t>(behind - run.t.begin()) - 1];
}

LargeRun run_large(Model model, const LargeSettings& settings) {
  LargeRun result;
  IntegrateOptions options;
  const std::clock_t start = std::clock();
  options.observer = [&](const perp::Step& /*step*/) {
    result.is_slow = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC > settings.seconds;
    return !result.is_slow;
  };
  const BackwardEuler scheme{.h = model.run.h, .solver = settings.solver, .split_at_events = settings.splits};
  try {
    result.run = integrate(model.system, model.x0(), model.run.span, scheme, options);
  } catch (const std::exception& error) {
    result.refusal = error.what();
  }
  return result;
}

LargeRun run_large(const std::string& text, const LargeSettings& settings, const std::string& folder) {
  try {
    return run_large(read_model_text(text, (folder.empty() ? "" : folder + "/") + "large.toml"), settings);
  } catch (const InvalidInput& error) {
    LargeRun result;
    result.refusal = error.what();
    return result;
  }
}

std::string fault_of(const LargeModel& model, const LargeRun& run, bool splits) {
  // A step that was made in pieces, or in short steps, has rows of its own.
  const bool is_refined = run.run.counts.contains("refined");
  const auto is_whole = [&](double before, double t) {
    return !(splits || is_refined) || std::ranges::none_of(run.run.events, [&](const Event& event) { return before < event.t && event.t <= t; });
  };
  for (std::size_t k = 0; k + 1 < run.run.size(); ++k) {
    if (!(run.run.t[k + 1] > run.run.t[k]) || !is_whole(run.run.t[k], run.run.t[k + 1])) continue;
    const Step step(model, run.run, k);
    std::string text = step.rows();
    if (text.empty()) text = step.laws();
    if (!text.empty()) return text;
  }
  return {};
}

LargePlaces same_places(int n) {
  LargePlaces by;
  by.variables.resize(at(n));
  std::iota(by.variables.begin(), by.variables.end(), 0);
  by.factors.assign(at(n), 1);
  return by;
}

std::string difference(const LargeModel& model, const LargeRun& here, const LargeRun& there, const LargePlaces& by) {
  if (here.refusal.empty() != there.refusal.empty()) return "refused: " + here.refusal + there.refusal;
  if (here.run.status != there.run.status)
    return fmt::format("{} here ({}), {} there ({})", to_string(here.run.status), here.run.message, to_string(there.run.status),
                       there.run.message);
  if (here.run.size() == 0 || there.run.size() == 0) return {};
  const Vector size = sizes_of(here.run);
  for (int k = 0; k <= model.steps; ++k) {
    const double t = k * model.h, near = 1e-9 * model.h;
    const Vector x = here.at(t, near), y = there.at(t / by.time, near / by.time);
    if ((x.size() == 0) != (y.size() == 0)) return fmt::format("a row at t = {:.12g} on one side alone", t);
    if (x.size() == 0) continue;
    for (std::size_t j = 0; j < by.variables.size(); ++j) {
      const auto row = static_cast<Eigen::Index>(j);
      const double other = state_bits(by, j, y);
      if (!(std::abs(x[row] - other) <= closeness * size[row]))
        return fmt::format("variable {} at t = {:.12g}: {:.17g} here, {:.17g} there", j, t, x[row], other);
    }
  }
  return {};
}

bool same_bits(const LargeRun& here, const LargeRun& there, const LargePlaces& by) {
  if (here.run.size() != there.run.size() || here.run.events.size() != there.run.events.size()) return false;
  for (std::size_t k = 0; k < here.run.size(); ++k) {
    if (here.run.t[k] != by.time * there.run.t[k]) return false;
    const Vector x = here.run.x[k], y = there.run.x[k];
    for (std::size_t j = 0; j < by.variables.size(); ++j)
      if (x[static_cast<Eigen::Index>(j)] != state_bits(by, j, y)) return false;
  }
  for (std::size_t k = 0; k < here.run.events.size(); ++k) {
    const Event &event = here.run.events[k], &other = there.run.events[k];
    if (event.t != by.time * other.t || event.law != other.law || event.from != other.from || event.to != other.to) return false;
  }
  return true;
}

}  // namespace perp::relations

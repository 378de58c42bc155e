#include <algorithm>
#include <cmath>
#include <set>

#include <perp/lcp/memory.hpp>
#include <perp/schemes/step_search.hpp>

namespace perp {
namespace {

constexpr double same_point = 1e-8;  ///< of the terms: solutions nearer than this are one
constexpr double vanishing = 1e-22;  ///< share of the largest unknown that is zero
constexpr double same_order = 4;    ///< ratio of norms that are both O(h)
constexpr double tied = 1e-12;       ///< relative difference of norms that are called equal
constexpr int most_exchanges = 100;
constexpr int most_listed = 256;         ///< modes whose violations are listed
constexpr int scan_bisections = 12;
constexpr std::size_t most_gridded = 3;  ///< free multipliers up to which all combinations start

int changes(const Mode& a, const Mode& b) {
  int sum = 0;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) sum += a[i] != b[i];
  return sum;
}

/// The values of λ on a branch: its bounds of w count too where it slopes.
Range range_of_lambda(const Branch& branch) {
  Range range = branch.lambda;
  if (branch.b != 0) {
    const auto at = [&](double w) { return (branch.c - branch.a * w) / branch.b; };
    range.lower = std::max(range.lower, std::min(at(branch.w.lower), at(branch.w.upper)));
    range.upper = std::min(range.upper, std::max(at(branch.w.lower), at(branch.w.upper)));
  }
  return range;
}

/// Values of λ on a branch, increasing: `shares` of the way between its ends, closer to them where
/// there are more; beyond an open end by powers of ten.
std::vector<double> samples(const Branch& branch, std::size_t count) {
  const Range range = range_of_lambda(branch);
  const bool below = std::isfinite(range.lower), above = std::isfinite(range.upper);
  std::vector<double> shares{0, 0.5, 1};
  if (count > 3) shares = {0, 0.03, 0.3, 0.7, 0.97, 1};
  if (count > 6)
    shares = {0, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.99, 0.999, 0.9999, 1};
  std::vector<double> list;
  for (const double share : shares) {
    if (below && above) {
      list.push_back(range.lower + share * (range.upper - range.lower));
      continue;
    }
    // A share of a half line or of the line, by a map that has its end at 1 (and at 0).
    const double far = std::min(share, 0.9999);
    if (below)
      list.push_back(range.lower + far / (1 - far));
    else if (above)
      list.push_back(range.upper - (1 - std::max(share, 1e-4)) / std::max(share, 1e-4));
    else
      list.push_back(std::tan(3.14 * (far - 0.5)));
  }
  return list;
}

/// `floor`: what is rounding beside the largest unknown.
bool near(const Vector& a, const Vector& b, const Vector& a_size, const Vector& b_size,
          double floor) {
  for (Eigen::Index j = 0; j < a.size(); ++j)
    if (std::abs(a[j] - b[j]) > std::max(floor, same_point * std::max(a_size[j], b_size[j])))
      return false;
  return true;
}

}  // namespace

StepSearch::StepSearch(ImplicitStep& step, ModeNewton& newton) : step_(step), newton_(newton) {
  for (const Law& law : step.laws())
    modes_ = std::min(modes_ * static_cast<long>(law.branches.size()), most_modes + 1);
  d_ = Vector::Zero(step.n());
  lambda_ = w_ = Vector::Zero(step.m());
}

std::vector<Mode> StepSearch::modes_from(const Mode& present) const {
  std::vector<Mode> list;
  Mode mode(step_.laws().size(), 0);
  do list.push_back(mode);
  while (next_mode(mode, step_.laws()));
  if (!present.empty())
    std::stable_sort(list.begin(), list.end(), [&](const Mode& a, const Mode& b) {
      return changes(a, present) < changes(b, present);
    });
  return list;
}

/// Multipliers to start from, in the mode that is set: those given, then the middles and the ends
/// of the branches.
std::vector<Vector> StepSearch::starts(const Vector& lambda) const {
  std::vector<Vector> list(4, lambda);
  for (const int law : step_.free_laws()) {
    const std::vector<double> values = samples(step_.branch(law), 3);
    list[1][law] = values[1];
    list[2][law] = values[0];
    list[3][law] = values[2];
  }
  return list;
}

/// All combinations of values of the free multipliers, in the mode that is set.
std::vector<Vector> StepSearch::grid(const Vector& lambda) const {
  const std::vector<int>& free = step_.free_laws();
  if (free.empty() || free.size() > most_gridded) return {};
  std::vector<Vector> list{lambda};
  for (const int law : free) {
    std::vector<Vector> longer;
    for (const Vector& start : list)
      for (const double value : samples(step_.branch(law), free.size() == 1   ? 15
                                                           : free.size() == 2 ? 6
                                                                              : 3)) {
        longer.push_back(start);
        longer.back()[law] = value;
      }
    list = std::move(longer);
  }
  return list;
}

/// Keeps the solution at the last point of Newton's method, unless it is known.
void StepSearch::add(const Mode& mode, FoundSolutions& found) {
  ModeSolution solution;
  solution.mode = mode;
  solution.d = d_;
  solution.lambda = lambda_;
  solution.w = w_;
  solution.norm = step_.norm(d_);
  solution.residual = newton_.relative_residual();
  solution.d_size = d_.cwiseAbs();
  solution.lambda_size = lambda_.cwiseAbs();
  if (newton_.factorise()) {
    newton_.sizes(solution.d_size, solution.lambda_size);
  } else {
    solution.lambda_determined = false;
    solution.isolated = newton_.determines_state();
  }
  const double floor = vanishing * step_.overall();
  for (ModeSolution& known : found.list) {
    const bool same = near(known.d, d_, known.d_size, solution.d_size, floor) &&
                      (near(known.lambda, lambda_, known.lambda_size, solution.lambda_size,
                            floor) ||
                       (known.mode == mode && !known.lambda_determined));
    if (!same) continue;
    if (known.mode != mode && std::find(known.also.begin(), known.also.end(), mode) ==
                                  known.also.end())
      known.also.push_back(mode);
    return;
  }
  found.list.push_back(std::move(solution));
}

/// Newton's method from (d_, lambda_) in the mode, and what it finds.
NewtonEnd StepSearch::try_from(const Mode& mode, double tol, FoundSolutions& found, bool& inside) {
  inside = false;
  const NewtonEnd end = newton_.run(d_, lambda_);
  if (end != NewtonEnd::converged) return end;
  step_.w(w_);
  inside = newton_.violation(lambda_, w_, tol) == 0;
  if (inside) add(mode, found);
  return end;
}

void StepSearch::search_mode(const Mode& mode, const Vector& d, const Vector& lambda, double tol,
                             FoundSolutions& found) {
  step_.set_mode(mode);
  bool decided = false, inside = false;
  NewtonEnd end = NewtonEnd::stalled;
  const std::vector<Vector> points = starts(lambda);
  for (std::size_t k = 0; k < points.size(); ++k) {
    d_ = d;
    if (k > 0) d_.setZero();
    lambda_ = points[k];
    end = try_from(mode, tol, found, inside);
    decided = decided || end == NewtonEnd::converged || end == NewtonEnd::inconsistent;
    // Where λ enters linearly another start finds the same point, unless λ is not determined.
    if (end == NewtonEnd::converged && !step_.is_nonlinear_in_lambda() &&
        (inside || !newton_.met_singular()))
      break;
  }
  if (thorough_ && step_.is_nonlinear_in_lambda()) scan(mode, tol, found);
  if (decided) return;
  found.decided = false;
  found.why = describe(end);
}

/// Moves d_ to where 0 = F holds for these λ. False: Newton's method finds no such point.
bool StepSearch::follow(const Mode& mode, const Vector& lambda) {
  step_.hold_lambda(mode);
  lambda_ = lambda;
  return newton_.run(d_, lambda_) == NewtonEnd::converged;
}

/// Starts Newton's method from points where 0 = F holds, all over the branches; with one free λ
/// also from where its law changes its sign between two of them.
void StepSearch::scan(const Mode& mode, double tol, FoundSolutions& found) {
  step_.set_mode(mode);
  const std::vector<int> free = step_.free_laws();
  bool inside = false, followed = false;
  double residual = 0;
  Vector last_d, last_lambda;
  d_.setZero();
  for (const Vector& start : grid(lambda_)) {
    const bool had = followed;
    const double before = residual;
    const Vector d_before = last_d, lambda_before = last_lambda;
    followed = follow(mode, start);
    if (!followed) d_.setZero();
    last_d = d_;
    last_lambda = start;
    if (followed) residual = step_.law_residual(free[0], start[free[0]]);
    if (free.size() == 1 && had && followed && before * residual < 0) {
      Vector low = lambda_before, middle = start, high = start;
      d_ = d_before;
      for (int k = 0; k < scan_bisections; ++k) {
        middle = (low + high) / 2;
        if (!follow(mode, middle)) break;
        const bool same = before * step_.law_residual(free[0], middle[free[0]]) > 0;
        (same ? low : high) = middle;
      }
      lambda_ = middle;
    }
    step_.set_mode(mode);
    try_from(mode, tol, found, inside);
    d_ = last_d;
  }
}

void StepSearch::search_neighbours(const Mode& present, const Vector& d, const Vector& lambda,
                                   double tol, FoundSolutions& found) {
  found.all_modes = false;
  Mode mode = present;
  if (mode.empty()) mode.assign(step_.laws().size(), 0);
  std::set<Mode> met;
  // Every violated law goes to its nearest other branch, as long as no mode repeats ...
  for (int count = 0; count < most_exchanges && met.insert(mode).second; ++count) {
    search_mode(mode, d, lambda, tol, found);
    if (!found.list.empty()) return;
    for (std::size_t i = 0; i < mode.size(); ++i) {
      const auto law = static_cast<Eigen::Index>(i);
      const Branch& branch = step_.branch(static_cast<int>(i));
      const bool outside = w_[law] < branch.w.lower || w_[law] > branch.w.upper ||
                           lambda_[law] < branch.lambda.lower ||
                           lambda_[law] > branch.lambda.upper;
      if (outside) mode[i] = nearest_branch(step_.laws()[i], w_[law], lambda_[law], mode[i]);
    }
  }
  // ... then one law after the other leaves its branch.
  for (std::size_t i = 0; i < present.size(); ++i)
    for (int k = 0; k < static_cast<int>(step_.laws()[i].branches.size()); ++k) {
      mode = present;
      mode[i] = k;
      if (!met.insert(mode).second) continue;
      search_mode(mode, d, lambda, tol, found);
      if (!found.list.empty()) return;
    }
}

FoundSolutions StepSearch::all(const Mode& present, const Vector& d, const Vector& lambda,
                               double tol, bool thorough) {
  thorough_ = thorough;
  FoundSolutions found;
  if (modes_ > most_modes) {
    search_neighbours(present, d, lambda, tol, found);
  } else {
    for (const Mode& mode : modes_from(present)) search_mode(mode, d, lambda, tol, found);
  }
  return found;
}

std::vector<std::pair<Mode, double>> StepSearch::violations(const Vector& d, const Vector& lambda,
                                                            double tol) {
  std::vector<std::pair<Mode, double>> list;
  if (modes_ > most_listed) return list;
  for (const Mode& mode : modes_from({})) {
    step_.set_mode(mode);
    double least = inf;
    for (const Vector& start : starts(lambda)) {
      d_ = d;
      lambda_ = start;
      const NewtonEnd end = newton_.run(d_, lambda_);
      step_.w(w_);
      const double violation = end == NewtonEnd::converged ? newton_.violation(lambda_, w_, tol)
                                                           : newton_.relative_residual();
      if (violation < least) least = violation;
      if (end == NewtonEnd::converged && !step_.is_nonlinear_in_lambda()) break;
    }
    list.emplace_back(mode, least);
  }
  return list;
}

int StepSearch::memory_changes(const ModeSolution& solution, const Mode& present) const {
  if (present.empty()) return 0;
  const auto count = [&](const Mode& mode) {
    return perp::memory_changes(step_.laws(), mode, present);
  };
  int fewest = count(solution.mode);
  for (const Mode& mode : solution.also) fewest = std::min(fewest, count(mode));
  return fewest;
}

std::size_t StepSearch::choose(const FoundSolutions& found, const Mode& present, int& solutions,
                               int& ties) const {
  const std::vector<ModeSolution>& list = found.list;
  const double floor = vanishing * step_.overall();
  int fewest = memory_changes(list.front(), present);
  solutions = 0;
  bool continuum = false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    fewest = std::min(fewest, memory_changes(list[i], present));
    continuum = continuum || !list[i].isolated;
    const bool repeated = std::any_of(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(i),
                                      [&](const ModeSolution& other) {
                                        return near(other.d, list[i].d, other.d_size,
                                                    list[i].d_size, floor);
                                      });
    solutions += !repeated;
  }
  if (continuum) solutions = -1;
  std::size_t best = list.size();
  ties = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (memory_changes(list[i], present) > fewest) continue;
    if (best == list.size()) {
      best = i;
      continue;
    }
    const double difference = list[i].norm - list[best].norm;
    if (std::abs(difference) <= tied * (list[i].norm + list[best].norm)) {
      if (!near(list[i].d, list[best].d, list[i].d_size, list[best].d_size, floor)) ++ties;
    } else if (difference < 0) {
      best = i;
      ties = 0;
    }
  }
  return best;
}

std::size_t StepSearch::most_continuous(const FoundSolutions& found, const Mode& present,
                                        std::size_t chosen) const {
  const auto change = [&](const ModeSolution& solution) {
    double sum = 0;
    for (int j = 0; j < step_.n(); ++j)
      if (!step_.evaluator().is_differential(j)) sum += solution.d[j] * solution.d[j];
    return sum;
  };
  const ModeSolution& nearest = found.list[chosen];
  std::size_t best = chosen;
  for (std::size_t i = 0; i < found.list.size(); ++i) {
    const ModeSolution& solution = found.list[i];
    if (memory_changes(solution, present) > memory_changes(nearest, present) ||
        solution.norm > same_order * nearest.norm)
      continue;
    if (same_order * change(solution) < change(found.list[best])) best = i;
  }
  return best;
}

}  // namespace perp

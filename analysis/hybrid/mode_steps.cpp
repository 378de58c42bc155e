// Steps in one mode, and where its constraints end it: event capturing of hybrid models is made of
// these.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <perp/analysis/hybrid/mode_steps.hpp>
#include <perp/core/base/index.hpp>
#include <perp/schemes/capturing/capturing.hpp>
#include <perp/schemes/capturing/nonlinear_capturing.hpp>
#include <perp/schemes/continuation/path_capturing.hpp>
#include <perp/schemes/run/trajectory_archive.hpp>

namespace perp {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double share_of_value = 1e-11;  ///< of [0, 1]: up to where a released binary is known
constexpr int most_lengths = 120;
constexpr double least_gain = 0.25;  ///< share of a margin that the next secant leaves of it, above which it is rounding

std::unique_ptr<Scheme> scheme_of(const Dcs& system, const Theta& options) {
  if (const std::optional<SparseLcs> matrices = as_sparse_lcs(system))
    return capturing_scheme(*matrices, options);
  return capturing_scheme(system, options);
}

/// Two lengths, with the margins at the ends of steps of both: `low` violates nothing, `high` does.
struct LengthBracket {
  double low, high;
  Vector at_low, at_high;

  [[nodiscard]] bool is_inside(double length) const { return length > low && length < high; }
  /// The first zero of the secants of all that are violated at `high`.
  [[nodiscard]] double first_zero() const {
    double length = high;
    for (Eigen::Index gap = 0; gap < at_low.size(); ++gap)
      if (at_high[gap] < 0)
        length = std::min(length, low + (high - low) * std::max(at_low[gap], 0.0) /
                                            (std::max(at_low[gap], 0.0) - at_high[gap]));
    return length;
  }
  /// The length that is tried next: there, or in the middle.
  [[nodiscard]] double next(bool is_halving) const {
    const double length = first_zero();
    return is_inside(length) && !is_halving ? length : low + (high - low) / 2;
  }
  /// Does a length lie between the two, which are farther than this from each other?
  [[nodiscard]] bool is_divided_by(double length, double least) const {
    return is_inside(length) && high - low > least;
  }
  /// A length inside becomes one of the two.
  void put(double length, bool is_beyond, Vector margins) {
    (is_beyond ? high : low) = length;
    (is_beyond ? at_high : at_low) = std::move(margins);
  }
};

}  // namespace

ModeSteps::ModeSteps(const HybridModel& model, const Dcs& system, HybridMode mode,
                     const Theta& options)
    : mode_(std::move(mode)),
      q_(model.q()),
      scheme_(scheme_of(system, options)),
      evaluator_(system) {
  for (int i = 0; i < q_; ++i)
    if (mode_.z[at(i)] == released_binary)
      for (const bool upper : {false, true}) gaps_.push_back({i, true, upper});
  for (int l = 0; l < static_cast<int>(model.g.size()); ++l)
    if (!mode_.is_idle[at(l)]) gaps_.push_back({q_ + l, false, false});
}

void ModeSteps::from(const Step& state) {
  start_ = state;
  std::fill(start_.mode.begin(), start_.mode.end(), 0);  // the only branches of this mode
  is_at_start_ = false;
}

bool ModeSteps::attempt(double t_next, double h) {
  if (!is_at_start_) scheme_->restore(start_);
  is_at_start_ = true;
  errors_.reset();
  if (scheme_->attempt(t_next, h).status != Status::solved) return false;
  scheme_->accept();
  is_at_start_ = false;
  end_ = scheme_->snapshot();
  h_ = h;
  return true;
}

void ModeSteps::transfer(Archive& archive) { archive(*scheme_, start_, end_, is_at_start_, h_, errors_); }

void ModeSteps::accept() {
  start_ = end_;
  is_at_start_ = true;
}

double ModeSteps::margin(int gap, const Step& state) const {
  const Gap& here = gaps_[at(gap)];
  if (!here.of_lambda) return -state.w[here.law];
  return here.upper ? 1 - state.lambda[here.law] : state.lambda[here.law];
}

Vector ModeSteps::margins(const Step& state) const {
  Vector values(static_cast<Eigen::Index>(gaps_.size()));
  for (int gap = 0; gap < values.size(); ++gap) values[gap] = margin(gap, state);
  return values;
}

ModeSteps::Margin ModeSteps::margin_at_end(int gap) {
  const Gap& here = gaps_[at(gap)];
  if (here.of_lambda) return {margin(gap, end_), share_of_value};
  if (!errors_) {
    const int n = evaluator_.n(), m = evaluator_.m();
    Vector z(evaluator_.inputs()), z_error = Vector::Zero(evaluator_.inputs());
    const Vector x_error = scheme_->rounding();
    z << end_.t, (end_.x - start_.x) / h_, end_.x, end_.lambda;
    z_error.segment(1, n) = 2 * x_error / h_;
    z_error.segment(1 + n, n) = x_error;
    Vector rows(n + m), errors(n + m);
    evaluator_.evaluate_bounded(z.data(), z_error.data(), rows.data(), errors.data());
    errors_ = errors.tail(m);
  }
  return {margin(gap, end_), (*errors_)[here.law]};
}

bool ModeSteps::is_violated() {
  for (int gap = 0; gap < static_cast<int>(gaps_.size()); ++gap)
    if (margin(gap, end_) < 0)
      if (const Margin here = margin_at_end(gap); here.value < -here.error) return true;
  return false;
}

bool ModeSteps::leaves_range_by_less(double share) {
  for (int gap = 0; gap < static_cast<int>(gaps_.size()); ++gap) {
    const Margin here = margin_at_end(gap);
    if (here.value < -(gaps_[at(gap)].of_lambda ? share : here.error)) return false;
  }
  return true;
}

void ModeSteps::hold_range() {
  for (const Gap& gap : gaps_)
    if (gap.of_lambda) end_.lambda[gap.law] = std::clamp(end_.lambda[gap.law], 0.0, 1.0);
}

/// Is one that a longer step violates, with these margins, 0 at the end of the attempt as far as rounding can tell? The
/// first such one.
std::optional<int> ModeSteps::gap_on_constraint(const Vector& violated) {
  for (int gap = 0; gap < violated.size(); ++gap) {
    if (!(violated[gap] < 0)) continue;
    const Margin here = margin_at_end(gap);
    if (std::abs(here.value) <= here.error) return gap;
  }
  return std::nullopt;
}

/// Bounds of errors may be far above them: from a length whose margin is 0 as far as they tell, and a longer one, secants go
/// on as long as the margin shrinks.
std::optional<double> ModeSteps::polish(double length, int gap, double beyond, double margin_beyond) {
  constexpr int most_secants = 4;
  double value = margin(gap, end_);
  for (int k = 0; k < most_secants && value != 0; ++k) {
    const double next = length + (beyond - length) * (value / (value - margin_beyond));
    if (!(next > 0) || std::abs(next - length) <= epsilon * std::abs(start_.t)) break;
    const bool is_nearer = attempt(next) && !is_violated() && std::abs(margin(gap, end_)) < least_gain * std::abs(value);
    if (!is_nearer) return attempt(length) ? std::optional(length) : std::nullopt;
    beyond = std::exchange(length, next);
    margin_beyond = std::exchange(value, margin(gap, end_));
  }
  return length;
}

/// Regula falsi on the constraint whose secant is 0 first, between a length that violates nothing
/// and one that does.
std::optional<double> ModeSteps::locate(double h) {
  LengthBracket bracket{0, h, margins(start_), margins(end_)};
  for (int k = 0; k < most_lengths; ++k) {
    const double length = bracket.next(k % 4 == 3);
    if (!bracket.is_divided_by(length, epsilon * std::abs(start_.t))) break;
    if (!attempt(length)) return std::nullopt;
    const bool is_beyond = is_violated();
    const std::optional<int> gap = is_beyond ? std::nullopt : gap_on_constraint(bracket.at_high);
    if (gap) return polish(length, *gap, bracket.high, bracket.at_high[*gap]);
    bracket.put(length, is_beyond, margins(end_));
  }
  if (bracket.low == 0) return 0.0;
  if (!attempt(bracket.low)) return std::nullopt;
  return bracket.low;
}

}  // namespace perp

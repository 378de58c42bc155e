// Signs that doubles leave open, from a Newton step refined in 113 bits: the distance of the exact
// solution of the step from the end of a branch. Called by ModeNewton::admit.
#include <algorithm>
#include <cmath>
#include <utility>

#include <perp/lcp/exact/double_double.hpp>
#include <perp/schemes/newton/mode_newton.hpp>

namespace perp {
namespace {

constexpr int refinements = 4;    ///< most corrections of the unknowns with the matrix of doubles
constexpr int corrections_in_pairs = 2;
constexpr double neglected = 2;   ///< factor for what is of second order in the last correction

/// Are the rows and their errors numbers?
bool are_finite(const std::vector<WideNumber>& rows) {
  return std::ranges::all_of(rows, [](const WideNumber& row) { return std::isfinite(row.high) && std::isfinite(row.error); });
}

}  // namespace

bool ModeNewton::first_step(Vector& d, Vector& lambda) {
  step_.fix(lambda);
  if (!step_.linearise(d, lambda) || !direction(false)) return false;
  step_.move(d, lambda, 1, direction_.data(), d_trial_, lambda_trial_);
  d = d_trial_;
  lambda = lambda_trial_;
  return true;
}

/// Takes J⁻¹ of the refined rows off the unknowns.
void ModeNewton::correct_refined() {
  for (std::size_t i = 0; i < wide_residual_.size(); ++i) work_[i] = wide_residual_[i].high;
  lu_.solve(work_.data());
  for (int j = 0; j < step_.n(); ++j) d_low_[j] -= work_[static_cast<std::size_t>(j)];
  for (std::size_t i = 0; i < step_.free_laws().size(); ++i)
    lambda_low_[step_.free_laws()[i]] -= work_[static_cast<std::size_t>(step_.n()) + i];
}

/// The point from which signs are refined is another one. The matrix of the last `factorise` is regular.
void ModeNewton::begin_refinement() {
  corrections_ = 0;
  is_refinable_ = step_.is_widened();
  in_pairs_ = step_.has_wide_pairs();
}

/// One more correction of d_low and λ_low, which the unknowns lack of the solution: in sums of two doubles, as far as these
/// tell, then all over again in 113 bits. False: there were enough of them, or the rows are no numbers. The rows at the
/// point itself decide nothing: how fast corrections fall shows after one.
bool ModeNewton::refine(const Vector& d, const Vector& lambda) {
  const auto has_rows = [&] {
    step_.widen(d, d_low_, lambda, lambda_low_, in_pairs_, wide_residual_, wide_w_);
    return are_finite(wide_residual_);
  };
  const auto is_corrected = [&] {
    if (corrections_ == 0) {
      d_low_.setZero(step_.n());
      lambda_low_.setZero(step_.m());
      if (!has_rows()) return false;
    }
    correct_refined();
    ++corrections_;
    return has_rows();
  };
  if (in_pairs_ && is_refinable_ && corrections_ < corrections_in_pairs && is_corrected()) return true;
  if (std::exchange(in_pairs_, false)) corrections_ = 0;
  if (!is_refinable_ || corrections_ == refinements) return false;
  return is_refinable_ = is_corrected();
}

/// Σ |(derivatives · J⁻¹)_i| (|F_i| + e_i) at the refined point.
double ModeNewton::refined_error(double* derivatives) {
  lu_.solve_transposed(derivatives);
  double sum = 0;
  for (std::size_t i = 0; i < wide_residual_.size(); ++i)
    sum += std::abs(derivatives[i]) * (std::abs(wide_residual_[i].high) + wide_residual_[i].error);
  return neglected * sum;
}

/// On which side of a bound is a value that is known to its error?
ModeNewton::Side ModeNewton::side_of(const WideNumber& value, double bound, bool upper) {
  const DoubleDouble distance = DoubleDouble{value.high, value.low} - DoubleDouble{bound, 0};
  const double beyond = upper ? distance.high : -distance.high;
  const double error = value.error + double_double_rounding * (std::abs(value.high) + std::abs(bound));
  if (!(std::abs(beyond) > error) && !(beyond == 0 && value.error == 0)) return Side::open;
  ++refined_signs_;
  return beyond > 0 ? Side::outside : Side::inside;
}

ModeNewton::Side ModeNewton::side_of_w(int law, const Range& range, double w) {
  WideNumber value = wide_w_[static_cast<std::size_t>(law)];
  step_.w_derivatives(law, work_.data());
  value.error += refined_error(work_.data());
  const bool upper = w > range.upper;
  return side_of(value, upper ? range.upper : range.lower, upper);
}

ModeNewton::Side ModeNewton::side_of_lambda(int law, const Range& range, double lambda) {
  const std::vector<int>& free = step_.free_laws();
  const auto place = std::find(free.begin(), free.end(), law);
  std::fill(work_.begin(), work_.end(), 0.0);
  work_[static_cast<std::size_t>(step_.n() + (place - free.begin()))] = 1;
  const DoubleDouble sum = two_sum(lambda, lambda_low_[law]);
  const bool upper = lambda > range.upper;
  return side_of({sum.high, sum.low, refined_error(work_.data())}, upper ? range.upper : range.lower,
                 upper);
}

/// With as many corrections as it takes.
template <class Judge>
ModeNewton::Side ModeNewton::refined_side(const Vector& d, const Vector& lambda, const Judge& judge) {
  Side side = is_refinable_ && corrections_ > 0 ? judge() : Side::open;
  while (side == Side::open && refine(d, lambda)) side = judge();
  return side;
}

ModeNewton::Side ModeNewton::refined_side_of_w(const Vector& d, const Vector& lambda, int law, double w) {
  return refined_side(d, lambda, [&] { return side_of_w(law, step_.branch(law).w, w); });
}

ModeNewton::Side ModeNewton::refined_side_of_lambda(const Vector& d, const Vector& lambda, int law) {
  return refined_side(d, lambda, [&] { return side_of_lambda(law, step_.branch(law).lambda, lambda[law]); });
}

/// θ F⁺ + (1−θ) F in the rows with derivatives, of the rows F⁺ at the inputs z.
void ImplicitStep::average_wide(std::vector<WideNumber> z, bool in_pairs, std::vector<WideNumber>& rows) {
  z[0] = {t_old_, 0, 0};
  for (int j = 0; j < n(); ++j) z[static_cast<std::size_t>(1 + n() + j)] = {x_[j], 0, 0};
  std::vector<WideNumber> old(rows.size());
  evaluator_.evaluate_wide(z, in_pairs, old.data());
  for (std::size_t i = 0; i < static_cast<std::size_t>(n()); ++i) {
    if (has_derivatives_[i] == 0) continue;
    const DoubleDouble sum = DoubleDouble{rows[i].high, rows[i].low} * theta_ +
                             DoubleDouble{old[i].high, old[i].low} * (1 - theta_);
    const double size = std::abs(rows[i].high) + std::abs(old[i].high);
    rows[i] = {sum.high, sum.low,
               rows[i].error + old[i].error + 4 * double_double_rounding * size};
  }
}

/// The step in 113 bits. ẋ = d/h is rounded once, as x + d.
void ImplicitStep::widen(const Vector& d, const Vector& d_low, const Vector& lambda, const Vector& lambda_low,
                         bool in_pairs, std::vector<WideNumber>& residual, std::vector<WideNumber>& w) {
  std::vector<WideNumber> z{{t_, 0, 0}};
  const auto rounded = [](const DoubleDouble& value, double size) {
    return WideNumber{value.high, value.low, double_double_rounding * size};
  };
  for (int j = 0; j < n(); ++j) {
    const DoubleDouble own = two_sum(d[j], d_low[j]);
    const DoubleDouble change = shift_.size() > 0 ? DoubleDouble{shift_[j], 0} + own : own;
    const DoubleDouble high = quotient(change.high, h_);
    const DoubleDouble rest = two_product(high.high, h_);
    const double low = ((change.high - rest.high) - rest.low + change.low) / h_;
    // What the division of the remainder rounds is of the order of 2^-105.
    z.push_back(rounded(two_sum(high.high, low), std::abs(high.high)));
  }
  for (int j = 0; j < n(); ++j) {
    const DoubleDouble sum = DoubleDouble{x_[j], 0} + two_sum(d[j], d_low[j]);
    z.push_back(rounded(sum, std::abs(x_[j]) + std::abs(d[j])));
  }
  for (int i = 0; i < m(); ++i) {
    const DoubleDouble sum = two_sum(lambda[i], lambda_low[i]);
    z.push_back({sum.high, sum.low, 0});
  }
  std::vector<WideNumber> rows(static_cast<std::size_t>(n() + m()));
  evaluator_.evaluate_wide(z, in_pairs, rows.data());
  if (theta_ != 1) average_wide(z, in_pairs, rows);
  residual.assign(rows.begin(), rows.begin() + n());
  w.assign(rows.begin() + n(), rows.end());
  for (const int law : free_laws_) {
    const Branch& piece = branch(law);
    const WideNumber& argument = w[static_cast<std::size_t>(law)];
    const WideNumber& multiplier = z[static_cast<std::size_t>(1 + 2 * n() + law)];
    const DoubleDouble miss = DoubleDouble{argument.high, argument.low} * piece.a +
                              DoubleDouble{multiplier.high, multiplier.low} * piece.b -
                              DoubleDouble{piece.c, 0};
    const double terms = std::abs(piece.a * argument.high) + std::abs(piece.b * multiplier.high) +
                         std::abs(piece.c);
    residual.push_back({miss.high, miss.low,
                        std::abs(piece.a) * argument.error + double_double_rounding * terms});
  }
}

}  // namespace perp

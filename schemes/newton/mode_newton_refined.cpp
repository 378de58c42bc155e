// Signs that doubles leave open, from a Newton step refined in 113 bits: the distance of the exact
// solution of the step from the end of a branch. Called by ModeNewton::admit.
#include <algorithm>
#include <cmath>

#include <perp/lcp/exact/double_double.hpp>
#include <perp/schemes/newton/mode_newton.hpp>

namespace perp {
namespace {

constexpr int refinements = 4;    ///< corrections of the unknowns with the matrix of doubles
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

/// d_low and λ_low: what the unknowns lack of the solution. False: they do not settle. The matrix of
/// the last `factorise` is regular.
bool ModeNewton::refine(const Vector& d, const Vector& lambda) {
  if (is_refined_) return true;
  if (!step_.is_widened()) return false;
  d_low_.setZero(step_.n());
  lambda_low_.setZero(step_.m());
  for (int k = 0; k <= refinements; ++k) {
    step_.widen(d, d_low_, lambda, lambda_low_, wide_residual_, wide_w_);
    if (!are_finite(wide_residual_)) return false;
    if (k < refinements) correct_refined();
  }
  return is_refined_ = true;
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

/// θ F⁺ + (1−θ) F in the rows with derivatives, of the rows F⁺ at the inputs z.
void ImplicitStep::average_wide(std::vector<WideNumber> z, std::vector<WideNumber>& rows) {
  z[0] = {t_old_, 0, 0};
  for (int j = 0; j < n(); ++j) z[static_cast<std::size_t>(1 + n() + j)] = {x_[j], 0, 0};
  std::vector<WideNumber> old(rows.size());
  evaluator_.evaluate_wide(z, old.data());
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
void ImplicitStep::widen(const Vector& d, const Vector& d_low, const Vector& lambda,
                         const Vector& lambda_low, std::vector<WideNumber>& residual,
                         std::vector<WideNumber>& w) {
  std::vector<WideNumber> z{{t_, 0, 0}};
  const auto rounded = [](const DoubleDouble& value, double size) {
    return WideNumber{value.high, value.low, double_double_rounding * size};
  };
  for (int j = 0; j < n(); ++j) {
    const DoubleDouble change = two_sum(d[j], d_low[j]);
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
  evaluator_.evaluate_wide(z, rows.data());
  if (theta_ != 1) average_wide(z, rows);
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

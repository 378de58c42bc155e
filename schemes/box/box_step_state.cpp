// What a solution of a step in a mode is: its multipliers and arguments, their errors, and where they are in the branches.
#include <algorithm>
#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/schemes/box/box_step.hpp>

namespace perp {

void BoxStep::find_outputs(const Mode& mode) {
  const int n = lcs_.n();
  for (int j = 0; j < n; ++j) x_[j] = y_[at(place_[at(j)])];
  for (int i = 0; i < lcs_.m(); ++i) {
    const BoxLaw& law = laws_[at(i)];
    const int place = place_[at(n + i)];
    const double end = law.at_lower >= 0 ? law.lower : law.upper;
    if (place >= 0)
      lambda_[i] = y_[at(place)];
    else
      lambda_[i] = mode[at(i)] == law.inside ? static_cast<double>(end + equation(law.variable, false).value / (static_cast<long double>(h_) * law.b)) : end;
  }
  for (int i = 0; i < lcs_.m(); ++i)
    w_[i] = mode[at(i)] == laws_[at(i)].inside ? laws_[at(i)].corner : static_cast<double>(argument(i).value + laws_[at(i)].corner);
}

void BoxStep::add_margin(int law, bool of_lambda, bool is_upper, double value, double rounding) {
  constexpr double several = 4;  // errors of others reach it, too
  margins_.push_back({law, of_lambda, is_upper, value, value < -several * rounding});
}

/// Of first order: each variable by its own equation, a multiplier by those that hold it.
void BoxStep::find_errors() {
  error_.assign(at(lcs_.n() + lcs_.m()), 0);
  for (int j = 0; j < lcs_.n(); ++j) {
    const double rounding = equation(j, true).rounding();
    error_[at(j)] = rounding / std::abs(lcs_.E(j, j) - h_ * lcs_.A(j, j));
    for (const auto& [i, value] : lcs_.B.row(j))
      error_[at(lcs_.n() + i)] = std::max(error_[at(lcs_.n() + i)], rounding / (h_ * std::abs(value)));
  }
}

void BoxStep::add_margins_of_multiplier(int i) {
  const BoxLaw& law = laws_[at(i)];
  const double error = error_[at(lcs_.n() + i)] + unit_roundoff * std::abs(lambda_[i]);
  if (law.lower > -inf) add_margin(i, true, false, lambda_[i] - law.lower, error);
  if (law.upper < inf) add_margin(i, true, true, law.upper - lambda_[i], error);
}

void BoxStep::find_margins(const Mode& mode) {
  margins_.clear();
  find_errors();
  for (int i = 0; i < lcs_.m(); ++i) {
    const BoxLaw& law = laws_[at(i)];
    if (mode[at(i)] == law.inside) {
      add_margins_of_multiplier(i);
      continue;
    }
    const Sum sum = argument(i);
    double error = sum.rounding();
    for (const auto& [j, value] : lcs_.C.row(i)) error += std::abs(value) * error_[at(j)];
    for (const auto& [k, value] : lcs_.D.row(i)) error += std::abs(value) * error_[at(lcs_.n() + k)];
    const bool is_lower = mode[at(i)] == law.at_lower;
    const double above = static_cast<double>(sum.value) * (is_lower ? law.side : -law.side);
    add_margin(i, false, is_lower == (law.side < 0), above, error);
  }
}

bool BoxStep::is_inside() const {
  return std::none_of(margins_.begin(), margins_.end(), [](const Margin& margin) { return margin.is_beyond; });
}

Vector BoxStep::rounding() const { return Eigen::Map<const Vector>(error_.data(), lcs_.n()); }

}  // namespace perp

// Eigenvalues of the flow at a point of rest, and what they tell: called by the search for equilibria.
#include <algorithm>
#include <cmath>

#include <perp/core/pencil/finite_eigenvalues.hpp>
#include <perp/schemes/located/equilibria/rest_spectrum.hpp>

namespace perp {
namespace {

constexpr double no_growth = 1e-12;      ///< |Re s| relative to the largest |s| that is rounding
constexpr double rate_rounding = 1e-13;  ///< the same relative to ‖∂H/∂y‖/‖∂H/∂ẏ‖

}  // namespace

void clean(std::vector<std::complex<double>>& values, const RestEquations& equations) {
  double size = 0;
  for (const auto& value : values) size = std::max(size, std::abs(value));
  const double none = std::max(
      no_growth * size, rate_rounding * equations.matrix().norm() / equations.rate_matrix().norm());
  for (auto& value : values)
    value = {std::abs(value.real()) <= none ? 0 : value.real(),
             std::abs(value.imag()) <= none ? 0 : value.imag()};
}

Stability stability_of(const std::vector<std::complex<double>>& values) {
  if (values.empty()) return Stability::rigid;
  int grow = 0, fall = 0;
  for (const auto& value : values) {
    grow += value.real() > 0;
    fall += value.real() < 0;
  }
  const auto all = static_cast<int>(values.size());
  if (grow > 0) return grow == all ? Stability::repelling : fall > 0 ? Stability::saddle : Stability::unstable;
  return fall == all ? Stability::attracting : Stability::marginal;
}

double distance_to_spectrum(const std::complex<double>& value, const RestEquations& equations) {
  double smallest = inf;
  const auto others = finite_eigenvalues(equations.rate_matrix(), -equations.matrix());
  if (others)
    for (const auto& other : *others) smallest = std::min(smallest, std::abs(value - other));
  return smallest;
}

}  // namespace perp

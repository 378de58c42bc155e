// Eigenvalues of the flow at a point of rest, and what they tell: called by the search for equilibria.
#include <algorithm>
#include <cmath>

#include <perp/core/pencil/finite_eigenvalues.hpp>
#include <perp/schemes/located/equilibria/rest_spectrum.hpp>

namespace perp {
std::optional<std::vector<std::complex<double>>> certain_eigenvalues(const RestEquations& equations) {
  const std::optional<FiniteSpectrum> spectrum = finite_spectrum(equations.rate_matrix(), -equations.matrix());
  if (!spectrum) return std::nullopt;
  std::vector<std::complex<double>> values = spectrum->values;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double error = spectrum->errors[k];
    values[k] = {std::abs(values[k].real()) <= error ? 0 : values[k].real(),
                 std::abs(values[k].imag()) <= error ? 0 : values[k].imag()};
  }
  return values;
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

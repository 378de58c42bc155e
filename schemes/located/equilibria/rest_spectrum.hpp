#pragma once

#include <complex>
#include <optional>
#include <vector>

#include <perp/schemes/located/equilibria/equilibria.hpp>
#include <perp/schemes/located/equilibria/rest_equations.hpp>

namespace perp {

/// Finite eigenvalues of the flow; parts that are no larger than their rounding are 0. None: the equations are singular.
std::optional<std::vector<std::complex<double>>> certain_eigenvalues(const RestEquations& equations);

/// What the flow does that has these eigenvalues.
Stability stability_of(const std::vector<std::complex<double>>& values);

/// Distance from an eigenvalue to the nearest one at the present unknowns; infinite without any.
double distance_to_spectrum(const std::complex<double>& value, const RestEquations& equations);

}  // namespace perp

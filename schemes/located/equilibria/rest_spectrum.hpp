#pragma once

#include <complex>
#include <vector>

#include <perp/schemes/located/equilibria/equilibria.hpp>
#include <perp/schemes/located/equilibria/rest_equations.hpp>

namespace perp {

/// Parts of eigenvalues that are rounding become 0.
void clean(std::vector<std::complex<double>>& values, const RestEquations& equations);

/// What the flow does that has these eigenvalues.
Stability stability_of(const std::vector<std::complex<double>>& values);

/// Distance from an eigenvalue to the nearest one at the present unknowns; infinite without any.
double distance_to_spectrum(const std::complex<double>& value, const RestEquations& equations);

}  // namespace perp

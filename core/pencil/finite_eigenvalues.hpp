#pragma once

#include <complex>
#include <optional>
#include <vector>

#include <perp/core/base/types.hpp>

namespace perp {

/// The finite eigenvalues of the pencil  A v = s E v,  those of the flow  E v̇ = A v  on the
/// solutions it has; those of the algebraic equations are infinite, with Jordan blocks as long as
/// the index. Ordered by falling real part, then imaginary part. Empty optional: the pencil is
/// singular (every s is an eigenvalue). Found from  M = (A − σ E)⁻¹ E, whose eigenvalues are 1/(s −
/// σ): the infinite ones are nilpotent and are left out with the chain of ranges M, M², ..  Both
/// n×n; throws InvalidInput otherwise.
std::optional<std::vector<std::complex<double>>> finite_eigenvalues(const Matrix& E,
                                                                    const Matrix& A);

/// Eigenvalues with how far rounding may have moved each of them, by samples of it: that of a multiple one is large.
struct FiniteSpectrum {
  std::vector<std::complex<double>> values;
  std::vector<double> errors;
};

/// The same as `finite_eigenvalues`, with errors.
std::optional<FiniteSpectrum> finite_spectrum(const Matrix& E, const Matrix& A);

}  // namespace perp

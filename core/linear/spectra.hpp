#pragma once

#include <complex>
#include <vector>

#include <perp/core/base/types.hpp>

/// LAPACK's methods. A matrix with an entry that is not finite has values nan, and so has one for
/// which the method does not converge: they decide nothing.
namespace perp::linear {

/// Singular values, the largest first.
Vector singular_values(const Matrix& A);

/// A = U diag(values) Vᵀ with U and V square.
struct Svd {
  Matrix U;
  Vector values;
  Matrix V;
  /// Values above `share` of the largest one.
  [[nodiscard]] int rank(double share) const;
};
Svd svd(const Matrix& A);

/// Eigenvalues of a real matrix, conjugate ones side by side, the positive imaginary part first.
std::vector<std::complex<double>> eigenvalues(const Matrix& A);

/// Eigenvalues of a symmetric matrix (its lower triangle), the smallest first.
Vector symmetric_eigenvalues(const Matrix& A);

/// Whether Cholesky's factorization of a symmetric matrix (its lower triangle) exists in doubles.
bool has_cholesky_factor(const Matrix& A);

/// A^-1 B for a symmetric positive definite A; nan if it is not.
Matrix solve_definite(const Matrix& A, const Matrix& B);

}  // namespace perp::linear

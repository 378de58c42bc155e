#include <algorithm>

#include <lapacke.h>

#include <perp/core/linear/spectra.hpp>

namespace perp::linear {
namespace {

lapack_int integer(Eigen::Index size) { return static_cast<lapack_int>(size); }

}  // namespace

Vector singular_values(const Matrix& A) {
  Vector values = Vector::Constant(std::min(A.rows(), A.cols()), nan);
  if (values.size() == 0 || !A.allFinite()) return values;
  Matrix work = A;
  const lapack_int rows = integer(A.rows()), columns = integer(A.cols());
  if (LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'N', rows, columns, work.data(), rows, values.data(),
                     nullptr, rows, nullptr, columns) != 0)
    values.setConstant(nan);
  return values;
}

int Svd::rank(double share) const {
  return values.size() == 0 ? 0
                            : static_cast<int>((values.array() > share * values[0]).count());
}

Svd svd(const Matrix& A) {
  const lapack_int rows = integer(A.rows()), columns = integer(A.cols());
  Svd result{Matrix::Identity(rows, rows), Vector::Constant(std::min(rows, columns), nan),
             Matrix::Identity(columns, columns)};
  if (result.values.size() == 0 || !A.allFinite()) return result;
  Matrix work = A, VT(columns, columns);
  if (LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'A', rows, columns, work.data(), rows,
                     result.values.data(), result.U.data(), rows, VT.data(), columns) != 0)
    result.values.setConstant(nan);
  result.V = VT.transpose();
  return result;
}

std::vector<std::complex<double>> eigenvalues(const Matrix& A) {
  const lapack_int n = integer(A.rows());
  std::vector<std::complex<double>> result;
  Matrix work = A;
  Vector real = Vector::Constant(n, nan), imaginary = real;
  if (n > 0 && A.allFinite() &&
      LAPACKE_dgeev(LAPACK_COL_MAJOR, 'N', 'N', n, work.data(), n, real.data(), imaginary.data(),
                    nullptr, n, nullptr, n) != 0)
    real.setConstant(nan);
  for (Eigen::Index k = 0; k < n; ++k) result.emplace_back(real[k], imaginary[k]);
  return result;
}

Vector symmetric_eigenvalues(const Matrix& A) {
  const lapack_int n = integer(A.rows());
  Vector values = Vector::Constant(n, nan);
  Matrix work = A;
  if (n > 0 && A.allFinite() &&
      LAPACKE_dsyev(LAPACK_COL_MAJOR, 'N', 'L', n, work.data(), n, values.data()) != 0)
    values.setConstant(nan);
  return values;
}

bool has_cholesky_factor(const Matrix& A) {
  if (!A.allFinite()) return false;
  if (A.rows() == 0) return true;
  Matrix work = A;
  const lapack_int n = integer(A.rows());
  return LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', n, work.data(), n) == 0;
}

Matrix solve_definite(const Matrix& A, const Matrix& B) {
  const lapack_int n = integer(A.rows());
  Matrix work = A, X = B;
  if (n == 0 || B.cols() == 0) return X;
  if (!A.allFinite() ||
      LAPACKE_dposv(LAPACK_COL_MAJOR, 'L', n, integer(B.cols()), work.data(), n, X.data(), n) != 0)
    X.setConstant(nan);
  return X;
}

}  // namespace perp::linear

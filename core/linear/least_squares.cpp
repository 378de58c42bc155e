#include <Eigen/QR>
#include <algorithm>
#include <vector>

#include <lapacke.h>

#include <perp/core/linear/least_squares.hpp>

namespace perp::linear {
namespace {

template <class M>
Eigen::ColPivHouseholderQR<M> factors_of(const M& A, typename M::Scalar share) {
  Eigen::ColPivHouseholderQR<M> factors(A.rows(), A.cols());
  factors.setThreshold(share);
  factors.compute(A);
  return factors;
}

template <class M>
M basic_solution(const M& A, const M& B, typename M::Scalar share) {
  if (A.isZero(0)) return M::Zero(A.cols(), B.cols());
  return factors_of(A, share).solve(B);
}

}  // namespace

int rank_qr(const Matrix& A, double share) {
  return A.size() == 0 ? 0 : static_cast<int>(factors_of(A, share).rank());
}

int rank_qr(const RealMatrix& A, long double share) {
  return A.size() == 0 ? 0 : static_cast<int>(factors_of(A, share).rank());
}

Matrix least_squares(const Matrix& A, const Matrix& B, double share) {
  return basic_solution(A, B, share);
}

RealMatrix least_squares(const RealMatrix& A, const RealMatrix& B, long double share) {
  return basic_solution(A, B, share);
}

std::optional<Matrix> unique_least_squares(const Matrix& A, const Matrix& B, double share) {
  if (A.size() == 0) return A.cols() == 0 ? std::optional(Matrix(0, B.cols())) : std::nullopt;
  const auto factors = factors_of(A, share);
  if (factors.rank() < A.cols()) return std::nullopt;
  return factors.solve(B);
}

Vector least_norm_solution(const Matrix& A, const Vector& b, double share) {
  const auto rows = static_cast<lapack_int>(A.rows()), columns = static_cast<lapack_int>(A.cols());
  if (rows == 0 || columns == 0) return Vector::Zero(columns);
  if (!A.allFinite() || !b.allFinite()) return Vector::Constant(columns, nan);
  Matrix factors = A;
  Vector x = Vector::Zero(std::max(rows, columns));
  x.head(rows) = b;
  std::vector<lapack_int> order(static_cast<std::size_t>(columns), 0);
  lapack_int rank = 0;
  if (LAPACKE_dgelsy(LAPACK_COL_MAJOR, rows, columns, 1, factors.data(), rows, x.data(),
                     static_cast<lapack_int>(x.size()), order.data(), share, &rank) != 0)
    x.setConstant(nan);
  return x.head(columns);
}

}  // namespace perp::linear

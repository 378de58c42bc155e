#pragma once

#include <optional>

#include <perp/core/base/types.hpp>

namespace perp {
using RealMatrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
using RealVector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;
}  // namespace perp

namespace perp::linear {

/// Share of the largest pivot below which a pivot is the rounding of a matrix scaled to entries near 1.
inline constexpr double rounding_share = 0x1p-48;

/// Rank by QR with column pivoting: diagonal entries of R above `share` of the largest one.
int rank_qr(const Matrix& A, double share);
int rank_qr(const RealMatrix& A, long double share);

/// X with A X nearest to B, column by column, a basic solution where columns of A depend on others:
/// rank as above.
Matrix least_squares(const Matrix& A, const Matrix& B, double share);
RealMatrix least_squares(const RealMatrix& A, const RealMatrix& B, long double share);

/// The same where the columns of A are independent; nothing where they are not.
std::optional<Matrix> unique_least_squares(const Matrix& A, const Matrix& B, double share);

/// The x of least norm among those with A x nearest to b, by a complete orthogonal decomposition
/// (LAPACK's gelsy).
Vector least_norm_solution(const Matrix& A, const Vector& b, double share);

}  // namespace perp::linear

#pragma once

#include <vector>

#include <perp/core/base/types.hpp>
#include <perp/core/linear/sparse/dense_pivots.hpp>
#include <perp/core/linear/sparse/sparse_rank.hpp>

namespace perp {

/// Gaussian elimination with complete pivoting of a matrix of any shape and rank, scaled first by the sizes of its
/// unknowns and then so that rows and columns have largest entries of about 1. It stops where all that is left is
/// rounding: the rank. Large matrices that are mostly 0 are eliminated by their entries, with the same pivots and, bit
/// for bit, the same results. Storage grows to the largest matrix met and is kept.
class RankElimination {
 public:
  /// Factorises A. `sizes`: of the unknowns, > 0, one per column. `row_sizes`: of the terms of each
  /// row, what its rounding is relative to; a row all of whose entries are smaller than `tolerance`
  /// of it is zero. Pivots below `tolerance` of scaled entries are zero.
  void factorise(const Matrix& A, const Vector& sizes, const Vector& row_sizes, double tolerance);
  void factorise(const linear::SparseMatrix& A, const Vector& sizes, const Vector& row_sizes, double tolerance);

  [[nodiscard]] int rank() const { return by_entries_ ? sparse_.rank() : dense_.rank; }
  [[nodiscard]] int columns() const { return columns_; }

  /// A solution of A x = r as far as it has one: the independent rows are solved, the unknowns
  /// without a pivot stay 0. r: rows, x: columns.
  void solve(const Vector& r, Vector& x) const;

  /// The one of these solutions with the least norm in units of `sizes`. Allocates.
  void solve_least_norm(const Vector& r, Vector& x) const;

  /// Basis of the null space, columns×(columns − rank), each vector with largest entry 1 in units
  /// of `sizes`.
  void null_space(Matrix& basis) const;
  [[nodiscard]] linear::SparseMatrix null_space() const;

 private:
  void factorise_dense(const Vector& sizes, const Vector& row_sizes, double tolerance);
  void scale(const Vector& sizes, const Vector& row_sizes, double tolerance);

  int rows_ = 0, columns_ = 0;
  bool by_entries_ = false;
  linear::SparseRank sparse_;   // where it is by entries
  linear::DensePivots dense_;   // elsewhere, as what follows: of the scaled matrix
  Vector row_scale_, column_scale_, sizes_;
  mutable Vector work_;
};

}  // namespace perp

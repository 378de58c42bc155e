#pragma once

#include <vector>

#include <perp/core/base/types.hpp>

namespace perp {

/// Gaussian elimination with complete pivoting of a small dense matrix of any shape and rank,
/// scaled first by the sizes of its unknowns and then so that rows and columns have largest entries
/// of about
/// 1. It stops where all that is left is rounding: the rank. Storage grows to the largest matrix
/// met and is kept.
class RankElimination {
 public:
  /// Factorises A. `sizes`: of the unknowns, > 0, one per column. `row_sizes`: of the terms of each
  /// row, what its rounding is relative to; a row all of whose entries are smaller than `tolerance`
  /// of it is zero. Pivots below `tolerance` of scaled entries are zero.
  void factorise(const Matrix& A, const Vector& sizes, const Vector& row_sizes, double tolerance);

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int columns() const { return columns_; }

  /// A solution of A x = r as far as it has one: the independent rows are solved, the unknowns
  /// without a pivot stay 0. r: rows, x: columns.
  void solve(const Vector& r, Vector& x) const;

  /// The one of these solutions with the least norm in units of `sizes`. Allocates.
  void solve_least_norm(const Vector& r, Vector& x) const;

  /// Basis of the null space, columns×(columns − rank), each vector with largest entry 1 in units
  /// of `sizes`.
  void null_space(Matrix& basis) const;

 private:
  void scale(const Matrix& A, const Vector& sizes, const Vector& row_sizes, double tolerance);
  void eliminate(double tolerance);
  void exchange(int k, int row, int column);
  double largest_below(int column, int from, int& row) const;

  int rows_ = 0, columns_ = 0, rank_ = 0;
  Matrix lu_;  // the scaled matrix, then its factors; rows and columns in pivot order
  Vector row_scale_, column_scale_, sizes_;
  std::vector<int> changing_;      // rows that the present pivot changes
  std::vector<int> row_, column_;  // original index of each row and column of lu_
  mutable Vector work_;
};

}  // namespace perp

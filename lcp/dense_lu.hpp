#pragma once

#include <algorithm>
#include <vector>

#include <perp/core/index.hpp>
#include <perp/core/types.hpp>
#include <perp/lcp/binary_scaling.hpp>

namespace perp {

/// LU factorisation with partial pivoting of a small dense matrix whose rows and columns were scaled
/// first, by powers of two that follow the exponents of its entries (`BinaryScaling`): rows and
/// columns in other units, by powers of two, have the same pivots and factors to the bit. Singular is
/// what has no pivot but rounding of the terms that were subtracted. All storage is made once.
class DenseLu {
 public:
  /// Shares of a right-hand side that no x removes: of the part that is solved best and of the one
  /// that is solved worst.
  struct Remainder {
    double least = 1, largest = 0;

    void add(double share) {
      least = std::min(least, share);
      largest = std::max(largest, share);
    }
  };

  /// Room for matrices up to `capacity`.
  explicit DenseLu(int capacity);

  /// Factorises the n×n matrix A (row after row). False if it is singular to rounding.
  bool factorise(const double* A, int n);

  /// x becomes A⁻¹ x. The matrix must be regular.
  void solve(double* x) const;
  /// x becomes A⁻ᵀ x.
  void solve_transposed(double* x) const;
  /// For a singular matrix: the x of least norm (in scaled unknowns) among those that come nearest
  /// to A x = r, part by part, and the shares of r (in scaled rows) that are left of the parts in
  /// which it is not 0. Allocates.
  Remainder solve_least_squares(const double* A, const double* r, double* x) const;

  /// Sign of the determinant of the matrix, which must be regular.
  [[nodiscard]] int determinant_sign() const;

  /// Do all vectors of the null space vanish in the first `count` unknowns? Decided by two ranks:
  /// the other columns are eliminated first. Allocates.
  [[nodiscard]] bool determines(const double* A, int count) const;

  [[nodiscard]] int size() const { return n_; }
  /// The unknown j is measured in units of column_scale(j); of unknowns of two parts these are
  /// unrelated.
  [[nodiscard]] double column_scale(int j) const { return column_scale_[at(j)]; }
  /// The connected part of the matrix to which the unknown j belongs, below parts().
  [[nodiscard]] int part(int j) const { return scaling_.part[at(j)]; }
  [[nodiscard]] int parts() const { return scaling_.parts; }

 private:
  void scale(const double* A);
  void load(const double* A);
  [[nodiscard]] bool is_beyond_rounding(int k, double pivot) const;
  void exchange(int k, int pivot);
  void eliminate(int k);
  bool factorise_by_terms(const double* A);
  [[nodiscard]] double scaled(const double* A, int i, int j) const {
    return row_scale_[at(i)] * A[i * n_ + j] * column_scale_[at(j)];
  }
  [[nodiscard]] double* row(int i) { return &lu_[at(i * n_)]; }
  [[nodiscard]] const double* row(int i) const { return &lu_[at(i * n_)]; }

  int n_ = 0;
  BinaryScaling scaling_;
  std::vector<int> exponents_, scaled_exponents_;  // n×n; those to which the scaling belongs
  int scaled_size_ = -1;
  std::vector<double> lu_;  // n×n, rows in their order after pivoting
  std::vector<double> row_scale_, column_scale_, column_size_;
  std::vector<int> origin_;  // row i of the factors is row origin_[i] of the matrix
  std::vector<double> terms_;  // n×n: the terms that each entry of the factors is the sum of
  mutable std::vector<double> work_;
};

}  // namespace perp

#pragma once

#include <vector>

#include <perp/core/base/types.hpp>

namespace perp {

/// LU factorisation with partial pivoting of a small dense matrix that was scaled first, by powers of
/// two, so that every row and column has the largest entry about 1. Singular is what has no pivot but rounding of
/// the terms that were subtracted. All storage is made once.
class DenseLu {
 public:
  static constexpr double singular_pivot = 1e-13;  ///< of the scaled matrix, or of a pivot's own terms

  /// Room for matrices up to `capacity`.
  explicit DenseLu(int capacity);

  /// Factorises the n×n matrix A (row after row), whose unknowns have the units 2^units[j] (nullptr: 1):
  /// rows are scaled for unknowns in these units, then columns. Where the units follow the matrix, rows
  /// and columns multiplied by powers of two change no bit of a scaled solution. False if it is singular
  /// to rounding.
  bool factorise(const double* A, int n, const int* units = nullptr);

  /// x becomes A⁻¹ x. The matrix must be regular.
  void solve(double* x) const;
  /// x becomes A⁻ᵀ x.
  void solve_transposed(double* x) const;
  /// x >= 0 becomes a bound of |A⁻¹| x, the products of the sizes of the factors: too large by what cancels in A⁻¹.
  void bound(double* x) const;
  /// What no x takes from a right-hand side r.
  struct Remainder {
    double share = 0;          ///< of r in scaled rows, those without entries aside
    bool contradicts = false;  ///< a row without entries says 0 = r_i ≠ 0: it has no unit
  };
  /// For a singular matrix: the x of least norm (in scaled unknowns) among those that come nearest
  /// to A x = r. Allocates.
  Remainder solve_least_squares(const double* A, const double* r, double* x) const;

  /// Sign of the determinant of the matrix, which must be regular.
  [[nodiscard]] int determinant_sign() const;

  /// Do all vectors of the null space vanish in the first `count` unknowns? Allocates.
  [[nodiscard]] bool determines(const double* A, int count) const;

  [[nodiscard]] int size() const { return n_; }
  /// The unknown j is measured in units of column_scale(j).
  [[nodiscard]] double column_scale(int j) const {
    return column_scale_[static_cast<std::size_t>(j)];
  }

 private:
  void scale(const double* A, const int* units);
  [[nodiscard]] bool is_scaled_as(const double* A, const int* units) const;
  void load(const double* A);
  void exchange(int k, int pivot);
  void eliminate(int k);
  bool factorise_scaled(const double* A, bool by_terms);
  [[nodiscard]] Matrix scaled(const double* A) const;
  [[nodiscard]] double* row(int i) { return &lu_[static_cast<std::size_t>(i * n_)]; }
  [[nodiscard]] const double* row(int i) const { return &lu_[static_cast<std::size_t>(i * n_)]; }

  int n_ = 0;
  std::vector<double> lu_;  // n×n, rows in their order after pivoting
  std::vector<double> row_scale_, column_scale_;
  std::vector<int> exponents_;  // of the columns, while they are scaled
  std::vector<double> scaled_;  // n×n: the matrix that was scaled last, with these units
  std::vector<int> scaled_units_;
  int scaled_n_ = 0;
  std::vector<int> origin_;  // row i of the factors is row origin_[i] of the matrix
  std::vector<double> terms_;  // n×n: the terms that each entry of the factors is the sum of
  mutable std::vector<double> work_;
};

}  // namespace perp

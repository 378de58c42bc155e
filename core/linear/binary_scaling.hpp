#pragma once

#include <vector>

#include <perp/core/base/types.hpp>
#include <perp/core/linear/sparse/sparse_matrix.hpp>

namespace perp {

/// Exponents r, c of powers of two that bring the entries 2^(r_i + c_j) a_ij of a matrix near 1: least
/// squares on the exponents of the nonzero entries, with the first row of each connected part of
/// the matrix held at 0. Rows and columns multiplied by powers of two move the exponents by
/// whole numbers, so that the scaled matrix stays the same to the bit.
struct BinaryScaling {
  std::vector<int> row, column;

  BinaryScaling() = default;
  explicit BinaryScaling(const Matrix& entries) { compute(entries); }
  explicit BinaryScaling(const linear::SparseMatrix& entries);

  /// The exponents of another matrix. Allocates on first use only while the size does not grow.
  void compute(const Matrix& entries);

  /// The largest |r_i| and |c_j|.
  [[nodiscard]] int range() const;
  /// All exponents in proportion, so that range() is at most `most`.
  void limit(int most);

  /// 2^(r_i + c_j) a_ij.
  [[nodiscard]] Matrix apply(const Matrix& entries) const;
  /// 2^(r_i) a_ij: what stands beside the matrix as a right-hand side.
  [[nodiscard]] Matrix apply_rows(const Matrix& entries) const;
  /// 2^(c_i) a_ij: from scaled unknowns to those of the matrix.
  [[nodiscard]] Matrix unscale(const Matrix& unknowns) const;

  /// The same in place.
  void apply_to(Matrix& entries) const;
  void apply_rows_to(Vector& entries) const;
  void unscale_in_place(Vector& unknowns) const;

 private:
  struct Room;
  /// Of each thread, for the work of `compute`.
  static Room& room();
  void begin(Eigen::Index rows, Eigen::Index columns);
  template <class EachOfRow, class EachOfColumn>
  void scale_along_trees(const EachOfRow& each_of_row, const EachOfColumn& each_of_column);
  void add_entry(Room& room, Eigen::Index i, Eigen::Index j, double entry) const;
  void balance();
};

}  // namespace perp

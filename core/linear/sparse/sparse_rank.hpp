#pragma once

#include <span>
#include <vector>

#include <perp/core/base/types.hpp>
#include <perp/core/linear/sparse/dense_pivots.hpp>
#include <perp/core/linear/sparse/largest_entry.hpp>
#include <perp/core/linear/sparse/sparse_matrix.hpp>

namespace perp::linear {

/// Gaussian elimination with complete pivoting of a matrix of any shape and rank by its entries: the pivots, factors and
/// solutions are, bit for bit, those of the dense elimination of RankElimination, which has the equations. What is left where it has filled is
/// eliminated as a dense matrix.
class SparseRank {
 public:
  /// See RankElimination::factorise.
  void factorise(const SparseMatrix& A, const Vector& sizes, const Vector& row_sizes, double tolerance);

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int columns() const { return columns_; }
  /// See RankElimination::solve.
  void solve(const Vector& r, Vector& x) const;
  /// See RankElimination::null_space.
  [[nodiscard]] SparseMatrix null_space() const;

 private:
  struct Entry {
    int row = 0;
    double value = 0;
  };
  /// Entries of rows that have been pivots, then those of the others.
  struct Column {
    std::vector<Entry> entries;
    std::size_t active = 0;  // the first one of a row that has not been a pivot
  };
  /// Lists of entries one behind the other.
  struct Lists {
    std::vector<int> start;
    std::vector<Entry> entries;

    /// Without a list; storage is that of before.
    void clear() {
      start.assign(1, 0);
      entries.clear();
    }
    void end_list() { start.push_back(static_cast<int>(entries.size())); }
  };

  void scale(const SparseMatrix& A, const Vector& sizes, const Vector& row_sizes, double tolerance);
  void scale_columns(double tolerance);
  void add_row(int i, std::span<const SparseMatrix::Entry> row);
  void order();
  void eliminate(double tolerance);
  [[nodiscard]] int pivot_row(const Column& column) const;
  void exchange(int k, int row, int position);
  void retire(int row);
  void divide(Column& column, double pivot);
  void subtract(int column, double factor);
  [[nodiscard]] bool has_filled() const;
  void eliminate_rest(double tolerance);
  void collect();
  void back(int last, std::vector<double>& work) const;
  [[nodiscard]] double largest_active(const Column& column) const;

  int rows_ = 0, columns_ = 0, rank_ = 0;
  std::vector<Column> column_entries_;         // by column
  std::vector<std::vector<int>> row_columns_;  // columns with an entry in each row
  Vector row_scale_, column_scale_, sizes_;
  LargestEntry largest_;                   // of the columns in their present order
  std::vector<int> row_at_, column_at_;    // the row, the column at each place of the order of pivots
  std::vector<int> row_place_, column_place_;
  std::vector<Entry> multipliers_;         // of the present pivot
  std::ptrdiff_t active_ = 0;              // entries of rows and columns without a pivot
  DensePivots rest_;                       // what is left of a matrix that has filled
  std::vector<int> where_;                 // of each row among the entries of a column, from 1
  Lists lower_, upper_;                    // of the column at each place, by places of rows
  std::vector<double> diagonal_;
  mutable std::vector<double> work_;
};

}  // namespace perp::linear

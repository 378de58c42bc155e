#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include <perp/core/base/types.hpp>

namespace perp::linear {

/// A matrix by its entries that are not 0: row by row, in each with increasing columns. Copies share their entries until one of
/// them is changed.
class SparseMatrix {
 public:
  struct Entry {
    int column = 0;
    double value = 0;
  };
  /// An entry and its row.
  struct Placed {
    int row = 0, column = 0;
    double value = 0;
  };

  SparseMatrix() = default;
  /// Each place at most once. Throws std::out_of_range for a place that is none of rows x columns.
  SparseMatrix(int rows, int columns, const std::vector<Placed>& entries = {});
  explicit SparseMatrix(const Matrix& entries);
  /// Zeros in places that are kept, whatever their values become; one place may be named several times.
  static SparseMatrix with_places(int rows, int columns, std::vector<Placed> places);

  [[nodiscard]] int rows() const { return static_cast<int>(list_->start.size()) - 1; }
  [[nodiscard]] int columns() const { return columns_; }
  /// How many entries are kept.
  [[nodiscard]] int count() const { return static_cast<int>(list_->entries.size()); }
  [[nodiscard]] std::span<const Entry> row(int i) const;
  /// 0 where there is no entry.
  [[nodiscard]] double operator()(int i, int j) const;
  [[nodiscard]] bool all_finite() const;

  /// All entries, row after row: their values may be changed.
  [[nodiscard]] std::span<Entry> entries() { return own().entries; }
  /// Where among them that at (i, j) stands; throws std::out_of_range where there is none.
  [[nodiscard]] int place(int i, int j) const;

  /// The entries of a row are 0 from now on.
  void clear_row(int i);

  /// Begins anew, without rows; those that follow are made of entries with increasing columns, which are kept where they
  /// are 0. Storage is that of before.
  void begin_rows(int columns);
  void add(int column, double value) { own().entries.push_back({column, value}); }
  void end_row() { own().start.push_back(count()); }

  /// The rows with these numbers, increasing, and of them the columns with these.
  [[nodiscard]] SparseMatrix part(const std::vector<int>& rows, const std::vector<int>& columns) const;
  [[nodiscard]] SparseMatrix transposed() const;
  [[nodiscard]] Matrix dense() const;
  /// The same into a matrix, which gets its size.
  void put_dense(Matrix& entries) const;

  /// M x
  [[nodiscard]] Vector times(const Vector& x) const;
  /// M (b - a)
  [[nodiscard]] Vector times_difference(const Vector& a, const Vector& b) const;
  /// |M| x
  [[nodiscard]] Vector sizes_times(const Vector& x) const;

 private:
  struct List {
    std::vector<int> start{0};  // of each row among the entries, and their number
    std::vector<Entry> entries{};
  };

  /// The list of this matrix alone, to change it.
  List& own() {
    if (list_.use_count() > 1) list_ = std::make_shared<List>(*list_);
    return *list_;
  }
  /// Of the terms of each row: term(column, value).
  template <class Term>
  [[nodiscard]] Vector sums_of(const Term& term) const;

  int columns_ = 0;
  std::shared_ptr<List> list_ = std::make_shared<List>();  // of all copies
};

/// work(column, a, b) for each column with an entry in one of two rows, 0 where the other one has none.
template <class Work>
void for_each_of(std::span<const SparseMatrix::Entry> a, std::span<const SparseMatrix::Entry> b, const Work& work) {
  const auto column_at = [](auto entry, auto end) {
    return entry == end ? std::numeric_limits<int>::max() : entry->column;
  };
  auto left = a.begin(), right = b.begin();
  while (left != a.end() || right != b.end()) {
    const int of_left = column_at(left, a.end()), of_right = column_at(right, b.end());
    const int column = std::min(of_left, of_right);
    work(column, of_left == column ? (left++)->value : 0, of_right == column ? (right++)->value : 0);
  }
}

}  // namespace perp::linear

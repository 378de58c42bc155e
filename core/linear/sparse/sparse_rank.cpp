// Elimination with complete pivoting by entries: called by RankElimination for matrices that are large and mostly 0.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/core/linear/sparse/sparse_rank.hpp>

namespace perp::linear {
namespace {

constexpr std::ptrdiff_t filled = 4;  ///< places for each entry, of a matrix that has filled

}  // namespace

void SparseRank::factorise(const SparseMatrix& A, const Vector& sizes, const Vector& row_sizes, double tolerance) {
  rows_ = A.rows();
  columns_ = A.columns();
  assert(sizes.size() == columns_ && row_sizes.size() == rows_);
  sizes_ = sizes;
  scale(A, sizes, row_sizes, tolerance);
  order();
  eliminate(tolerance);
  collect();
}

/// Columns in units of their unknowns, rows divided by their largest entry, then columns.
void SparseRank::scale(const SparseMatrix& A, const Vector& sizes, const Vector& row_sizes, double tolerance) {
  if (std::ssize(column_entries_) < columns_) column_entries_.resize(at(columns_));
  if (std::ssize(row_columns_) < rows_) row_columns_.resize(at(rows_));
  for (Column& column : column_entries_) column.entries.clear(), column.active = 0;
  for (std::vector<int>& list : row_columns_) list.clear();
  row_scale_.setZero(rows_);
  column_scale_ = sizes;
  for (int i = 0; i < rows_; ++i) {
    for (const auto& [j, value] : A.row(i)) row_scale_[i] = std::max(row_scale_[i], std::abs(value * sizes[j]));
    row_scale_[i] = row_scale_[i] > tolerance * row_sizes[i] ? 1 / row_scale_[i] : 0;
    add_row(i, A.row(i));
  }
  scale_columns(tolerance);
}

/// By their largest entries.
void SparseRank::scale_columns(double tolerance) {
  for (int j = 0; j < columns_; ++j) {
    const double largest = largest_active(column_entries_[at(j)]);
    if (largest <= tolerance) continue;
    for (Entry& entry : column_entries_[at(j)].entries) entry.value /= largest;
    column_scale_[j] /= largest;
  }
}

void SparseRank::add_row(int i, std::span<const SparseMatrix::Entry> row) {
  for (const auto& [j, value] : row) {
    const double scaled = value * sizes_[j] * row_scale_[i];
    if (scaled == 0) continue;
    column_entries_[at(j)].entries.push_back({i, scaled});
    row_columns_[at(i)].push_back(j);
  }
}

/// Everything stands where it stood in the matrix.
void SparseRank::order() {
  for (std::vector<int>* list : {&row_at_, &row_place_}) list->resize(at(rows_));
  for (std::vector<int>* list : {&column_at_, &column_place_}) list->resize(at(columns_));
  for (std::vector<int>* list : {&row_at_, &row_place_, &column_at_, &column_place_})
    std::iota(list->begin(), list->end(), 0);
  where_.assign(at(rows_), 0);
  largest_.resize(columns_);
  active_ = 0;
  for (int j = 0; j < columns_; ++j) {
    largest_.set(j, largest_active(column_entries_[at(j)]));
    active_ += std::ssize(column_entries_[at(j)].entries);
  }
}

bool SparseRank::has_filled() const {
  const std::ptrdiff_t rows = rows_ - rank_, columns = columns_ - rank_;
  return active_ * filled > rows * columns;
}

double SparseRank::largest_active(const Column& column) const {
  double largest = 0;
  for (std::size_t e = column.active; e < column.entries.size(); ++e)
    largest = std::max(largest, std::abs(column.entries[e].value));
  return largest;
}

/// The row of the largest entry; of equal ones the first in the present order.
int SparseRank::pivot_row(const Column& column) const {
  double largest = 0;
  int row = -1;
  for (std::size_t e = column.active; e < column.entries.size(); ++e) {
    const Entry& entry = column.entries[e];
    const double size = std::abs(entry.value);
    if (!(size >= largest) || size == 0) continue;
    if (size > largest || row_place_[at(entry.row)] < row_place_[at(row)]) row = entry.row;
    largest = size;
  }
  return row;
}

void SparseRank::eliminate(double tolerance) {
  const int most = std::min(rows_, columns_);
  for (rank_ = 0; rank_ < most; ++rank_) {
    check_interruption();
    if (largest_.value() <= tolerance) return;
    if (has_filled()) return eliminate_rest(tolerance);
    const int position = largest_.place();
    Column& pivots = column_entries_[at(column_at_[at(position)])];
    const int row = pivot_row(pivots);
    exchange(rank_, row, position);
    retire(row);
    divide(pivots, pivots.entries[pivots.active - 1].value);
    for (const int j : row_columns_[at(row)]) {
      if (column_place_[at(j)] <= rank_) continue;
      const Column& column = column_entries_[at(j)];
      const double factor = column.entries[column.active - 1].value;
      if (factor == 0) continue;
      subtract(j, factor);
      largest_.set(column_place_[at(j)], largest_active(column));
    }
  }
}

/// The pivot stands at place k from now on; what stood there goes where it came from.
void SparseRank::exchange(int k, int row, int position) {
  const int other_row = row_at_[at(k)], place = row_place_[at(row)];
  std::swap(row_at_[at(k)], row_at_[at(place)]);
  std::swap(row_place_[at(row)], row_place_[at(other_row)]);
  const int column = column_at_[at(position)], other = column_at_[at(k)];
  std::swap(column_at_[at(k)], column_at_[at(position)]);
  std::swap(column_place_[at(column)], column_place_[at(other)]);
  largest_.set(position, largest_[k]);
  largest_.set(k, -1);
}

/// The entries of a row that is a pivot now, in this column and all that follow it, become the last ones of such rows.
void SparseRank::retire(int row) {
  for (const int j : row_columns_[at(row)]) {
    if (column_place_[at(j)] < rank_) continue;
    Column& column = column_entries_[at(j)];
    std::size_t e = column.active;
    while (column.entries[e].row != row) ++e;
    std::swap(column.entries[e], column.entries[column.active++]);
    --active_;
  }
}

void SparseRank::divide(Column& column, double pivot) {
  multipliers_.clear();
  active_ -= std::ssize(column.entries) - static_cast<std::ptrdiff_t>(column.active);
  for (std::size_t e = column.active; e < column.entries.size(); ++e) {
    Entry& entry = column.entries[e];
    if (entry.value == 0) continue;
    entry.value /= pivot;
    multipliers_.push_back(entry);
  }
}

/// Column −= factor · multipliers, with the entries that this makes.
void SparseRank::subtract(int column, double factor) {
  std::vector<Entry>& entries = column_entries_[at(column)].entries;
  const std::size_t first = column_entries_[at(column)].active, end = entries.size();
  for (std::size_t e = first; e < end; ++e) where_[at(entries[e].row)] = static_cast<int>(e) + 1;
  for (const auto& [row, multiplier] : multipliers_) {
    const int place = where_[at(row)];
    if (place > 0) {
      entries[at(place - 1)].value -= multiplier * factor;
    } else {
      entries.push_back({row, -(multiplier * factor)});
      row_columns_[at(row)].push_back(column);
      ++active_;
    }
  }
  for (std::size_t e = first; e < end; ++e) where_[at(entries[e].row)] = 0;
}

/// The rows and columns without a pivot, in their present order, as a dense matrix.
void SparseRank::eliminate_rest(double tolerance) {
  const int first = rank_;
  rest_.lu.setZero(rows_ - first, columns_ - first);
  for (int k = first; k < columns_; ++k) {
    const Column& column = column_entries_[at(column_at_[at(k)])];
    for (std::size_t e = column.active; e < column.entries.size(); ++e)
      rest_.lu(row_place_[at(column.entries[e].row)] - first, k - first) = column.entries[e].value;
  }
  rest_.eliminate(tolerance);
  rank_ = first + rest_.rank;
  const auto reorder = [first](const std::vector<int>& order, std::vector<int>& list, std::vector<int>& places) {
    const std::vector<int> before(list.begin() + first, list.end());
    for (std::size_t k = 0; k < order.size(); ++k) {
      list[at(first) + k] = before[at(order[k])];
      places[at(before[at(order[k])])] = first + static_cast<int>(k);
    }
  };
  reorder(rest_.row, row_at_, row_place_);
  reorder(rest_.column, column_at_, column_place_);
  for (int k = first; k < columns_; ++k) {
    Column& column = column_entries_[at(column_at_[at(k)])];
    column.entries.resize(column.active);
    for (int i = first; i < rows_; ++i)
      if (const double value = rest_.lu(i - first, k - first); value != 0) column.entries.push_back({row_at_[at(i)], value});
  }
}

/// The factors by the places of rows: below the diagonal of the columns with a pivot, above it of all.
void SparseRank::collect() {
  diagonal_.resize(at(rank_));
  lower_.clear();
  upper_.clear();
  for (int k = 0; k < columns_; ++k) {
    const Column& column = column_entries_[at(column_at_[at(k)])];
    for (const auto& [row, value] : column.entries) {
      const int place = row_place_[at(row)];
      if (value == 0 || place >= rank_) continue;
      if (place == k)
        diagonal_[at(k)] = value;
      else
        (place < k ? upper_ : lower_).entries.push_back({place, value});
    }
    lower_.end_list();
    upper_.end_list();
  }
}

void SparseRank::solve(const Vector& r, Vector& x) const {
  work_.resize(at(rows_));
  for (int i = 0; i < rows_; ++i) work_[at(i)] = row_scale_[row_at_[at(i)]] * r[row_at_[at(i)]];
  for (int k = 0; k < rank_; ++k) {
    const double value = work_[at(k)];
    if (value == 0) continue;
    for (int e = lower_.start[at(k)]; e < lower_.start[at(k + 1)]; ++e)
      work_[at(lower_.entries[at(e)].row)] -= lower_.entries[at(e)].value * value;
  }
  back(rank_ - 1, work_);
  x.setZero(columns_);
  for (int k = 0; k < rank_; ++k) x[column_at_[at(k)]] = column_scale_[column_at_[at(k)]] * work_[at(k)];
}

/// U⁻¹, from this place on.
void SparseRank::back(int last, std::vector<double>& work) const {
  for (int k = last; k >= 0; --k) {
    double& value = work[at(k)];
    if (value == 0) continue;
    value /= diagonal_[at(k)];
    for (int e = upper_.start[at(k)]; e < upper_.start[at(k + 1)]; ++e)
      work[at(upper_.entries[at(e)].row)] -= upper_.entries[at(e)].value * value;
  }
}

SparseMatrix SparseRank::null_space() const {
  std::vector<SparseMatrix::Placed> entries;
  for (int free = rank_; free < columns_; ++free) {
    work_.assign(at(rank_), 0);
    int last = -1;
    for (int e = upper_.start[at(free)]; e < upper_.start[at(free + 1)]; ++e) {
      const Entry& entry = upper_.entries[at(e)];
      work_[at(entry.row)] = -entry.value;
      last = std::max(last, entry.row);
    }
    back(last, work_);
    const std::size_t first = entries.size();
    double largest = 0;
    const auto put = [&](int place, double value) {
      const int column = column_at_[at(place)];
      entries.push_back({column, free - rank_, column_scale_[column] * value});
      largest = std::max(largest, std::abs(entries.back().value) / sizes_[column]);
    };
    put(free, 1);
    for (int k = last; k >= 0; --k)
      if (work_[at(k)] != 0) put(k, work_[at(k)]);
    for (std::size_t e = first; e < entries.size(); ++e) entries[e].value /= largest;
  }
  return {columns_, columns_ - rank_, entries};
}

}  // namespace perp::linear

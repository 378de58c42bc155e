// Matrices by their entries: what systems of many variables are made of, from the model to the step.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include <perp/core/base/index.hpp>
#include <perp/core/linear/sparse/sparse_matrix.hpp>

namespace perp::linear {

namespace {

void check_place(const SparseMatrix::Placed& entry, int rows, int columns) {
  if (entry.row < 0 || entry.row >= rows || entry.column < 0 || entry.column >= columns)
    throw std::out_of_range("linear::SparseMatrix: place");
}

/// Are all of these 0? By the sum of their sizes: full matrices of sparse systems hold little else.
bool are_zero(const double* values, Eigen::Index count) {
  return Eigen::Map<const Eigen::ArrayXd>(values, count).abs().sum() == 0;
}

}  // namespace

SparseMatrix::SparseMatrix(int rows, int columns, const std::vector<Placed>& entries)
    : columns_(columns) {
  auto& [start, list] = *list_;
  start.assign(at(rows) + 1, 0);
  for (const Placed& entry : entries) {
    check_place(entry, rows, columns);
    if (entry.value != 0) ++start[at(entry.row) + 1];
  }
  std::partial_sum(start.begin(), start.end(), start.begin());
  list.resize(at(start.back()));
  std::vector<int> next(start.begin(), start.end() - 1);
  for (const Placed& entry : entries)
    if (entry.value != 0) list[at(next[at(entry.row)]++)] = {entry.column, entry.value};
  for (int i = 0; i < rows; ++i)
    std::sort(list.begin() + start[at(i)], list.begin() + start[at(i + 1)],
              [](const Entry& a, const Entry& b) { return a.column < b.column; });
}

SparseMatrix::SparseMatrix(const Matrix& entries) : columns_(static_cast<int>(entries.cols())) {
  // Column by column, as they are stored.
  constexpr Eigen::Index at_once = 64;
  std::vector<Placed> list;
  for (Eigen::Index j = 0; j < entries.cols(); ++j)
    for (Eigen::Index i = 0; i < entries.rows(); i += at_once) {
      const Eigen::Index count = std::min(at_once, entries.rows() - i);
      if (are_zero(entries.data() + j * entries.rows() + i, count)) continue;
      for (Eigen::Index k = i; k < i + count; ++k)
        if (entries(k, j) != 0) list.push_back({static_cast<int>(k), static_cast<int>(j), entries(k, j)});
    }
  *this = SparseMatrix(static_cast<int>(entries.rows()), columns_, list);
}

SparseMatrix SparseMatrix::with_places(int rows, int columns, std::vector<Placed> places) {
  for (Placed& place : places) {
    check_place(place, rows, columns);
    place.value = 1;
  }
  std::sort(places.begin(), places.end(), [](const Placed& a, const Placed& b) {
    return a.row != b.row ? a.row < b.row : a.column < b.column;
  });
  const auto same = [](const Placed& a, const Placed& b) { return a.row == b.row && a.column == b.column; };
  places.erase(std::unique(places.begin(), places.end(), same), places.end());
  SparseMatrix result(rows, columns, places);
  for (Entry& entry : result.entries()) entry.value = 0;
  return result;
}

int SparseMatrix::place(int i, int j) const {
  const auto list = row(i);
  const auto found = std::lower_bound(list.begin(), list.end(), j,
                                      [](const Entry& entry, int column) { return entry.column < column; });
  if (found == list.end() || found->column != j) throw std::out_of_range("linear::SparseMatrix: place");
  return list_->start[at(i)] + static_cast<int>(found - list.begin());
}

void SparseMatrix::clear_row(int i) {
  auto& [start, list] = own();
  for (int k = start[at(i)]; k < start[at(i + 1)]; ++k) list[at(k)].value = 0;
}

void SparseMatrix::begin_rows(int columns) {
  columns_ = columns;
  if (list_.use_count() > 1) list_ = std::make_shared<List>();
  list_->start.assign(1, 0);
  list_->entries.clear();
}

std::span<const SparseMatrix::Entry> SparseMatrix::row(int i) const {
  const auto& [start, list] = *list_;
  return {list.data() + start[at(i)], list.data() + start[at(i + 1)]};
}

double SparseMatrix::operator()(int i, int j) const {
  const auto list = row(i);
  const auto place = std::lower_bound(list.begin(), list.end(), j,
                                      [](const Entry& entry, int column) { return entry.column < column; });
  return place != list.end() && place->column == j ? place->value : 0;
}

bool SparseMatrix::all_finite() const {
  return std::all_of(list_->entries.begin(), list_->entries.end(), [](const Entry& entry) { return std::isfinite(entry.value); });
}

SparseMatrix SparseMatrix::part(const std::vector<int>& rows, const std::vector<int>& columns) const {
  std::vector<Placed> list;
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const auto& [column, value] : row(rows[i])) {
      const auto place = std::lower_bound(columns.begin(), columns.end(), column);
      if (place == columns.end() || *place != column) continue;
      list.push_back({static_cast<int>(i), static_cast<int>(place - columns.begin()), value});
    }
  return {static_cast<int>(rows.size()), static_cast<int>(columns.size()), list};
}

SparseMatrix SparseMatrix::transposed() const {
  std::vector<Placed> list;
  list.reserve(list_->entries.size());
  for (int i = 0; i < rows(); ++i)
    for (const auto& [column, value] : row(i)) list.push_back({column, i, value});
  return {columns_, rows(), list};
}

Matrix SparseMatrix::dense() const {
  Matrix entries;
  put_dense(entries);
  return entries;
}

void SparseMatrix::put_dense(Matrix& entries) const {
  entries.setZero(rows(), columns_);
  for (int i = 0; i < rows(); ++i)
    for (const auto& [column, value] : row(i)) entries(i, column) = value;
}

template <class Term>
Vector SparseMatrix::sums_of(const Term& term) const {
  Vector sums(rows());
  for (int i = 0; i < rows(); ++i) {
    double sum = 0;
    for (const auto& [column, value] : row(i)) sum += term(column, value);
    sums[i] = sum;
  }
  return sums;
}

Vector SparseMatrix::times(const Vector& x) const {
  return sums_of([&](int column, double value) { return value * x[column]; });
}

Vector SparseMatrix::times_difference(const Vector& a, const Vector& b) const {
  return sums_of([&](int column, double value) { return value * (b[column] - a[column]); });
}

Vector SparseMatrix::sizes_times(const Vector& x) const {
  return sums_of([&](int column, double value) { return std::abs(value) * x[column]; });
}

}  // namespace perp::linear

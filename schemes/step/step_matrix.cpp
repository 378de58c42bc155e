// Where the derivatives of an ImplicitStep stand in its matrix.
#include <algorithm>

#include <perp/core/base/index.hpp>
#include <perp/schemes/step/implicit_step.hpp>

namespace perp {

/// -1: of a law whose branch fixes λ.
int ImplicitStep::row_of(const Place& place) const {
  return place.row < n() ? place.row : unknown_[at(place.row - n())];
}

/// -1: of what is no unknown.
int ImplicitStep::column_of(const Place& place) const {
  if (place.kind == Kind::time) return -1;
  return place.kind == Kind::multiplier ? unknown_[at(place.index)] : place.index;
}

void ImplicitStep::place_entries() {
  placed_ = free_laws_;
  is_placed_ = true;
  if (is_large()) return place_in_rows();
  for (std::size_t k = 0; k < places_.size(); ++k) {
    const int row = row_of(places_[k]), column = column_of(places_[k]);
    place_[k] = row < 0 || column < 0 ? -1 : row * size_ + column;
  }
  for (int i = n(); i < size_; ++i) law_place_[at(i)] = i * size_ + i;
}

/// The columns of the entries of each row, increasing, each once.
std::vector<std::vector<int>> ImplicitStep::columns_by_rows() const {
  std::vector<std::vector<int>> rows(at(size_));
  for (int i = n(); i < size_; ++i) rows[at(i)].push_back(i);
  for (const Place& place : places_)
    if (const int row = row_of(place), column = column_of(place); row >= 0 && column >= 0) rows[at(row)].push_back(column);
  for (std::vector<int>& row : rows) {
    std::ranges::sort(row);
    row.erase(std::unique(row.begin(), row.end()), row.end());
  }
  return rows;
}

/// By rows with increasing columns, each entry once.
void ImplicitStep::place_in_rows() {
  pattern_ = {};
  for (const std::vector<int>& row : columns_by_rows()) {
    pattern_.column.insert(pattern_.column.end(), row.begin(), row.end());
    pattern_.start.push_back(static_cast<int>(pattern_.column.size()));
  }
  for (std::size_t k = 0; k < places_.size(); ++k) {
    const int row = row_of(places_[k]), column = column_of(places_[k]);
    place_[k] = row < 0 || column < 0 ? -1 : pattern_.place(row, column);
  }
  for (int i = n(); i < size_; ++i) law_place_[at(i)] = pattern_.place(i, i);
  jacobian_.assign(pattern_.column.size(), 0.0);
  list_columns();
}

/// The same entries by columns.
void ImplicitStep::list_columns() {
  columns_.start.assign(at(size_) + 1, 0);
  columns_.row.resize(pattern_.column.size());
  columns_.entry.resize(pattern_.column.size());
  for (const int column : pattern_.column) ++columns_.start[at(column) + 1];
  for (std::size_t j = 0; j < at(size_); ++j) columns_.start[j + 1] += columns_.start[j];
  std::vector<int> next(columns_.start.begin(), columns_.start.end() - 1);
  for (int i = 0; i < size_; ++i)
    for (int k = pattern_.start[at(i)]; k < pattern_.start[at(i) + 1]; ++k) {
      const int place = next[at(pattern_.column[at(k)])]++;
      columns_.row[at(place)] = i;
      columns_.entry[at(place)] = k;
    }
}

std::vector<double> ImplicitStep::full_jacobian() const {
  std::vector<double> full(at(size_) * at(size_), 0.0);
  for (std::size_t i = 0; i < at(size_); ++i)
    for_each_in_row(i, [&](std::size_t j, double entry) { full[i * at(size_) + j] = entry; });
  return full;
}

}  // namespace perp

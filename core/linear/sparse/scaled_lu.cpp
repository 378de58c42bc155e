#include <algorithm>
#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/core/linear/dense_lu.hpp>
#include <perp/core/linear/power_scale.hpp>
#include <perp/core/linear/sparse/lu_sizes.hpp>
#include <perp/core/linear/sparse/scaled_lu.hpp>

namespace perp::linear {

std::vector<Place> places_of(const RowPattern& pattern) {
  std::vector<Place> places;
  for (int i = 0; i < pattern.size(); ++i)
    for (int k = pattern.start[at(i)]; k < pattern.start[at(i) + 1]; ++k) places.push_back({i, pattern.column[at(k)]});
  return places;
}

int RowPattern::place(int row, int column_of_entry) const {
  const auto end = column.begin() + start[at(row) + 1];
  return static_cast<int>(std::lower_bound(column.begin() + start[at(row)], end, column_of_entry) - column.begin());
}

ScaledLu::ScaledLu(const RowPattern& pattern)
    : pattern_(pattern),
      lu_(pattern.size(), places_of(pattern)),
      scaled_(pattern.column.size()),
      row_scale_(at(pattern.size())),
      column_scale_(at(pattern.size())),
      exponents_(at(pattern.size())),
      work_(pattern.size()) {}

/// A row with its columns in the given units: its largest entry gets the exponent 0, and it is scaled so. Columns: the
/// largest exponents.
void ScaledLu::scale_row(std::size_t i, const double* entries, const int* units) {
  const int first = pattern_.start[i], end = pattern_.start[i + 1];
  const int* const column = pattern_.column.data();
  int largest = no_exponent;
  for (int k = first; k < end; ++k)
    if (const int exponent = exponent_of(entries[k]); exponent != no_exponent)
      largest = std::max(largest, exponent + units[column[k]]);
  const int shift = largest == no_exponent ? 0 : -largest;
  const double scale = row_scale_[i] = power_of_two(shift);
  for (int k = first; k < end; ++k) {
    scaled_[at(k)] = scale * entries[k];
    int& most = exponents_[at(column[k])];
    if (const int exponent = exponent_of(entries[k]); exponent != no_exponent) most = std::max(most, exponent + shift);
  }
}

/// Rows, then columns: the exponents of their largest entries become 0.
void ScaledLu::scale(const double* entries, const int* units) {
  std::fill(exponents_.begin(), exponents_.end(), no_exponent);
  for (std::size_t i = 0; i < row_scale_.size(); ++i) scale_row(i, entries, units);
  for (std::size_t j = 0; j < column_scale_.size(); ++j)
    column_scale_[j] = power_of_two(exponents_[j] == no_exponent ? 0 : -exponents_[j]);
  for (std::size_t k = 0; k < scaled_.size(); ++k) scaled_[k] *= column_scale_[at(pattern_.column[k])];
}

bool ScaledLu::factorise(const double* entries, const int* units) {
  scale(entries, units);
  has_parts_ = false;
  return lu_.factorise(scaled_) && has_pivots();
}

/// Is every pivot more than rounding beside the largest entries, which are 1, or beside its own terms?
bool ScaledLu::has_pivots() {
  const double least = lu_.least_pivot();
  if (least > DenseLu::singular_pivot) return true;
  if (!(least > 0)) return false;
  const std::vector<double> terms = terms_of_pivots();
  for (std::size_t j = 0; j < terms.size(); ++j)
    if (!(pivot(parts_.upper, j) > DenseLu::singular_pivot * terms[j])) return false;
  return true;
}

/// |u_jj| + Σ_k<j |l_jk u_kj|: rows of |L| against columns of |U|.
std::vector<double> ScaledLu::terms_of_pivots() {
  find_parts();
  std::vector<std::vector<std::pair<int, double>>> rows(row_scale_.size());
  for (int j = 0; j < pattern_.size(); ++j)
    for_each(parts_.lower, at(j), [&](int i, double value) {
      if (i != j) rows[at(i)].emplace_back(j, std::abs(value));
    });
  std::vector<double> column(rows.size(), 0.0), terms(rows.size());
  for (std::size_t j = 0; j < rows.size(); ++j) {
    for_each(parts_.upper, j, [&](int i, double value) { column[at(i)] = std::abs(value); });
    terms[j] = column[j];
    for (const auto& [i, size] : rows[j]) terms[j] += size * column[at(i)];
    for_each(parts_.upper, j, [&](int i, double) { column[at(i)] = 0; });
  }
  return terms;
}

void ScaledLu::find_parts() {
  if (!has_parts_) lu_.write_parts(parts_);
  has_parts_ = true;
}

void ScaledLu::solve(double* x) const {
  for (std::size_t i = 0; i < row_scale_.size(); ++i) work_[static_cast<Eigen::Index>(i)] = row_scale_[i] * x[i];
  lu_.solve(work_);
  for (std::size_t j = 0; j < column_scale_.size(); ++j) x[j] = column_scale_[j] * work_[static_cast<Eigen::Index>(j)];
}

void ScaledLu::solve_transposed(double* x) const {
  for (std::size_t j = 0; j < column_scale_.size(); ++j) work_[static_cast<Eigen::Index>(j)] = column_scale_[j] * x[j];
  lu_.solve_transposed(work_);
  for (std::size_t i = 0; i < row_scale_.size(); ++i) x[i] = row_scale_[i] * work_[static_cast<Eigen::Index>(i)];
}

/// |(L U)⁻¹| <= <U>⁻¹ <L>⁻¹ of each block, with the sizes of what is outside of blocks.
void ScaledLu::bound(double* x) {
  find_parts();
  const std::size_t n = row_scale_.size();
  double* const y = work_.data();
  for (std::size_t i = 0; i < n; ++i) y[i] = row_scale_[at(parts_.row[i])] * x[parts_.row[i]];
  add_sizes(parts_, y);
  for (std::size_t j = 0; j < n; ++j) x[parts_.column[j]] = column_scale_[at(parts_.column[j])] * y[j];
}

void ScaledLu::transfer(Archive& archive) {
  archive(row_scale_, column_scale_);
  lu_.transfer(archive);
  has_parts_ = false;
}

}  // namespace perp::linear

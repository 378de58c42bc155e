#include <algorithm>
#include <cmath>

#include <perp/core/base/types.hpp>
#include <perp/lcp/enumeration/relaxation.hpp>
#include <perp/lcp/mlcp.hpp>

namespace perp {
namespace {

constexpr double no_pivot = 1e-9;      // beside the largest entry of its row
constexpr double violation = 1e-9;     // beside which a row is left as it is
constexpr double rounding = 0x1p-48;   // bound on rounding in a row, beside its size
constexpr double cancelled = 0x1p-44;  // a sum below it beside its terms is 0

/// Is a value at the end of its range in this direction?
bool is_at_end(const Range& range, double value, double direction) {
  return direction > 0 ? value >= range.upper : value <= range.lower;
}

double clamped_zero(const Range& range) { return std::clamp(0.0, range.lower, range.upper); }

}  // namespace

bool Relaxation::is_empty(const RowSystem& system) {
  start(system);
  const int patience = rows_ + columns_;  // greedy pivots, then as many with the least index
  for (int count = 0; count < 2 * patience; ++count) {
    const int r = violated_row(count >= patience);
    if (r < 0) return false;
    const int column = entering_column(r, count >= patience);
    if (column < 0) return proves(system, r);
    exchange(r, column);
  }
  return false;
}

void Relaxation::start(const RowSystem& system) {
  rows_ = system.rows;
  columns_ = system.columns;
  const auto rows = static_cast<std::size_t>(rows_), columns = static_cast<std::size_t>(columns_);
  T_.resize(rows * columns);
  basic_.resize(rows);
  nonbasic_.resize(columns);
  value_.resize(rows + columns);
  range_.resize(rows + columns);
  for (int j = 0; j < columns_; ++j) {
    const auto quantity = rows + static_cast<std::size_t>(j);
    nonbasic_[static_cast<std::size_t>(j)] = rows_ + j;
    range_[quantity] = system.column_range[j];
    value_[quantity] = clamped_zero(range_[quantity]);
  }
  for (int r = 0; r < rows_; ++r) {
    const double* row = system.row(r);
    double* copy = T_.data() + static_cast<std::ptrdiff_t>(r) * columns_;
    double value = row[columns_];
    for (int j = 0; j < columns_; ++j) {
      copy[j] = row[j];
      value += row[j] * value_[rows + static_cast<std::size_t>(j)];
    }
    basic_[static_cast<std::size_t>(r)] = r;
    range_[static_cast<std::size_t>(r)] = system.range[r];
    value_[static_cast<std::size_t>(r)] = value;
  }
}

/// The basic quantity that misses its range by the most, or the one of least index; -1 if none.
int Relaxation::violated_row(bool least_index) const {
  int found = -1;
  double largest = 0;
  for (int r = 0; r < rows_; ++r) {
    const int quantity = basic_[static_cast<std::size_t>(r)];
    const double value = value_[static_cast<std::size_t>(quantity)];
    const Range& range = range_[static_cast<std::size_t>(quantity)];
    const double missing = std::max(range.lower - value, value - range.upper);
    if (missing <= largest || missing <= violation * (1 + std::abs(value))) continue;
    if (least_index && found >= 0 && basic_[static_cast<std::size_t>(found)] < quantity) continue;
    found = r;
    if (!least_index) largest = missing;
  }
  return found;
}

/// A nonbasic quantity that can move the row towards its range: the one of the largest entry, or of
/// least index; -1 if none.
int Relaxation::entering_column(int r, bool least_index) const {
  const double* row = T_.data() + static_cast<std::ptrdiff_t>(r) * columns_;
  const double direction = direction_of(basic_[static_cast<std::size_t>(r)]);
  int found = -1;
  double best = no_pivot * Eigen::Map<const Vector>(row, columns_).lpNorm<Eigen::Infinity>();
  for (int j = 0; j < columns_; ++j) {
    const double entry = direction * row[j];
    if (std::abs(entry) <= best) continue;
    const int quantity = nonbasic_[static_cast<std::size_t>(j)];
    const double value = value_[static_cast<std::size_t>(quantity)];
    if (is_at_end(range_[static_cast<std::size_t>(quantity)], value, entry)) continue;
    if (least_index && found >= 0 && nonbasic_[static_cast<std::size_t>(found)] < quantity)
      continue;
    found = j;
    if (!least_index) best = std::abs(entry);
  }
  return found;
}

/// The row's quantity goes to the end of its range that it misses and changes places with the
/// column's.
void Relaxation::exchange(int r, int column) {
  double* pivot_row = T_.data() + static_cast<std::ptrdiff_t>(r) * columns_;
  const double pivot = pivot_row[column];
  int& leaving = basic_[static_cast<std::size_t>(r)];
  int& entering = nonbasic_[static_cast<std::size_t>(column)];
  const auto out = static_cast<std::size_t>(leaving);
  const Range& range = range_[out];
  const double target = value_[out] < range.lower ? range.lower : range.upper;
  const double step = (target - value_[out]) / pivot;
  for (int i = 0; i < rows_; ++i)
    value_[static_cast<std::size_t>(basic_[static_cast<std::size_t>(i)])] +=
        T_[static_cast<std::size_t>(i) * static_cast<std::size_t>(columns_) +
           static_cast<std::size_t>(column)] *
        step;
  value_[static_cast<std::size_t>(entering)] += step;
  value_[out] = target;
  for (int j = 0; j < columns_; ++j) pivot_row[j] /= -pivot;
  pivot_row[column] = 1 / pivot;
  for (int i = 0; i < rows_; ++i) {
    double* row = T_.data() + static_cast<std::ptrdiff_t>(i) * columns_;
    const double factor = row[column];
    if (i == r || factor == 0) continue;
    row[column] = 0;
    Eigen::Map<Vector>(row, columns_) += factor * Eigen::Map<const Vector>(pivot_row, columns_);
  }
  std::swap(leaving, entering);
}

/// 1: a quantity outside of its range has to rise, -1: to fall.
double Relaxation::direction_of(int quantity) const {
  const auto k = static_cast<std::size_t>(quantity);
  return value_[k] < range_[k].lower ? 1 : -1;
}

/// Row r of T says  v - Σ_j T_rj v_j = constant: with y = (1, -T_rj) the quantities among the given
/// rows make Σ y v = Σ_k g_k t_k + g, and what the ranges ask of the left must be out of reach of
/// the right.
bool Relaxation::proves(const RowSystem& system, int r) {
  write_multipliers(r);
  Combination of_rows;
  if (!sum_rows(system, of_rows)) return false;
  const double most = reach(system, of_rows.term);
  // each row may miss its range by the tolerance of a solution
  const double slack =
      solution_tolerance * (of_rows.weight + of_rows.term) + 4 * rounding * of_rows.error;
  return most < of_rows.wanted - slack;
}

/// y of the violated quantity of row r and of the nonbasic ones.
void Relaxation::write_multipliers(int r) {
  y_.assign(static_cast<std::size_t>(rows_ + columns_), 0);
  conflict_ = basic_[static_cast<std::size_t>(r)];
  const double sign = direction_of(conflict_);
  y_[static_cast<std::size_t>(conflict_)] = sign;
  for (int j = 0; j < columns_; ++j)
    y_[static_cast<std::size_t>(nonbasic_[static_cast<std::size_t>(j)])] =
        -sign * T_[static_cast<std::size_t>(r) * static_cast<std::size_t>(columns_) +
                   static_cast<std::size_t>(j)];
}

/// Σ y_r (a_r, c_r) with its size, and what the ranges of the rows ask of it. False: an end is infinite.
bool Relaxation::sum_rows(const RowSystem& system, Combination& of_rows) {
  const auto width = static_cast<std::size_t>(columns_ + 1);
  sum_.assign(width, 0);
  size_.assign(width, 0);
  for (int i = 0; i < rows_; ++i) {
    const double y = y_[static_cast<std::size_t>(i)];
    if (y == 0) continue;
    const double* row = system.row(i);
    const double end = y > 0 ? system.range[i].lower : system.range[i].upper;
    if (std::isinf(end)) return false;
    of_rows.wanted += y * end;
    of_rows.term = std::max(of_rows.term, std::abs(y * end));
    of_rows.weight += std::abs(y);
    of_rows.error += std::abs(y) * row[columns_ + 1];
    for (std::size_t j = 0; j < width; ++j) {
      sum_[j] += y * row[j];
      size_[j] += std::abs(y * row[j]);
    }
  }
  return true;
}

/// The largest value of the sum over the ranges of the parameters, inf where it has none.
double Relaxation::reach(const RowSystem& system, double& largest_term) const {
  const auto constant = static_cast<std::size_t>(columns_);
  double most = sum_[constant];
  largest_term = std::max(largest_term, size_[constant]);
  for (int j = 0; j < columns_; ++j) {
    const auto k = static_cast<std::size_t>(j);
    if (std::abs(sum_[k]) <= cancelled * size_[k]) continue;
    const double step =
        sum_[k] * (sum_[k] > 0 ? system.column_range[j].upper : system.column_range[j].lower);
    if (step == inf) return inf;
    most += step;
    largest_term = std::max(largest_term, std::abs(step));
  }
  return most;
}

}  // namespace perp

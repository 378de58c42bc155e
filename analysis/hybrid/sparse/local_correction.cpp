#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <perp/analysis/hybrid/sparse/local_correction.hpp>
#include <perp/core/base/index.hpp>

namespace perp {
namespace {

/// Of the unknown: corrections that are smaller change no digit of it.
constexpr double no_digit = std::numeric_limits<double>::epsilon() / 8;

}  // namespace

LocalCorrection::LocalCorrection(int n, const HybridStructure& structure, const std::vector<linear::Place>& places)
    : n_(n),
      start_(at(n) + 1, 0),
      entries_(places.size()),
      unknown_(at(n), -1),
      pivot_(at(n), 0),
      rows_(at(n), 0),
      delta_(at(n), 0),
      is_open_(at(n), 0),
      is_met_(at(n), 0) {
  for (const linear::Place& place : places) ++start_[at(place.column) + 1];
  for (int j = 0; j < n; ++j) start_[at(j) + 1] += start_[at(j)];
  std::vector<int> next(start_.begin(), start_.end() - 1);
  std::vector<char> has_pivot(at(n), 0);
  for (int row = 0; row < n; ++row) unknown_[at(row)] = structure.matching.column_of_row[at(row)];
  for (std::size_t k = 0; k < places.size(); ++k) {
    const auto [row, column] = places[k];
    entries_[at(next[at(column)]++)] = {row, k};
    if (unknown_[at(row)] != column) continue;
    pivot_[at(row)] = k;
    has_pivot[at(row)] = 1;
  }
  serves_ = std::all_of(has_pivot.begin(), has_pivot.end(), [](char has) { return has != 0; });
}

void LocalCorrection::replace(int row, double r) {
  rows_[at(row)] = r;
  open(row);
}

void LocalCorrection::open(int row) {
  if (std::exchange(is_open_[at(row)], 1) == 0) queue_.push_back(row);
}

/// The correction of one row. False: it is no number.
bool LocalCorrection::step(int row, const std::vector<double>& values, const Vector& x) {
  const double r = std::exchange(rows_[at(row)], 0.0), delta = r / values[pivot_[at(row)]];
  is_open_[at(row)] = 0;
  if (r == 0) return true;
  if (!std::isfinite(delta)) return false;
  const int unknown = unknown_[at(row)];
  if (std::abs(delta) <= no_digit * std::abs(x[unknown])) return true;
  if (std::exchange(is_met_[at(unknown)], 1) == 0) met_.push_back(unknown);
  delta_[at(unknown)] += delta;
  for (int k = start_[at(unknown)]; k < start_[at(unknown) + 1]; ++k)
    if (const Entry& entry = entries_[at(k)]; entry.row != row) {
      rows_[at(entry.row)] -= values[entry.place] * delta;
      open(entry.row);
    }
  return true;
}

bool LocalCorrection::solve(const std::vector<double>& values, const Vector& x) {
  for (const int unknown : met_) delta_[at(unknown)] = is_met_[at(unknown)] = 0;
  met_.clear();
  bool is_solved = true;
  const std::size_t most = queue_.size() + at(n_);
  for (std::size_t next = 0; next < queue_.size() && is_solved; ++next)
    is_solved = next < most && step(queue_[next], values, x);
  for (const int row : queue_) rows_[at(row)] = is_open_[at(row)] = 0;
  queue_.clear();
  return is_solved;
}

}  // namespace perp

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <perp/analysis/hybrid/sparse/local_correction.hpp>
#include <perp/analysis/hybrid/sparse/sparse_steps.hpp>
#include <perp/core/base/index.hpp>
#include <perp/schemes/step/step_gate.hpp>

namespace perp {
namespace {

/// Of the unknown: corrections that are smaller change no digit of it.
constexpr double no_digit = std::numeric_limits<double>::epsilon() / 8;

}  // namespace

LocalCorrection::LocalCorrection(int n, const HybridStructure& structure, const std::vector<linear::Place>& places)
    : n_(n), rows_(at(n)), unknowns_(at(n)), queue_(3 * at(n) + 1) {
  for (int row = 0; row < n; ++row) rows_[at(row)].unknown = structure.matching.column_of_row[at(row)];
  for (const linear::Place& place : places)
    if (rows_[at(place.row)].unknown != place.column) ++unknowns_[at(place.column)].behind;
  int first = 0;
  for (Unknown& unknown : unknowns_) {
    const int count = std::exchange(unknown.behind, first);
    unknown.first = first;
    first += count;
  }
  entries_.resize(at(first));
  std::vector<char> has_pivot(at(n), 0);
  for (std::size_t k = 0; k < places.size(); ++k) {
    const auto [row, column] = places[k];
    if (rows_[at(row)].unknown != column) {
      entries_[at(unknowns_[at(column)].behind++)] = {row, static_cast<int>(k)};
    } else {
      rows_[at(row)].pivot = static_cast<int>(k);
      has_pivot[at(row)] = 1;
    }
  }
  serves_ = std::all_of(has_pivot.begin(), has_pivot.end(), [](char has) { return has != 0; });
}

void LocalCorrection::replace(int number, double r) {
  rows_[at(number)].r = r;
  open(number);
}

void LocalCorrection::open(int number) {
  if (!std::exchange(rows_[at(number)].is_open, true)) queue_[opened_++] = number;
}

/// The correction of one row. False: it is no number.
bool LocalCorrection::step(int number, const double* values, const double* x) {
  Row& row = rows_[at(number)];
  const double r = std::exchange(row.r, 0.0), delta = r / values[row.pivot];
  row.is_open = false;
  if (r == 0) return true;
  if (!std::isfinite(delta)) return false;
  if (std::abs(delta) <= no_digit * std::abs(x[row.unknown])) return true;
  Unknown& unknown = unknowns_[at(row.unknown)];
  if (!std::exchange(unknown.is_met, true)) met_.push_back(row.unknown);
  unknown.delta += delta;
  for (int k = unknown.first; k < unknown.behind; ++k) {
    const Entry entry = entries_[at(k)];
    Row& other = rows_[at(entry.row)];
    other.r -= values[entry.place] * delta;
    if (!std::exchange(other.is_open, true)) queue_[opened_++] = entry.row;
  }
  return true;
}

void LocalCorrection::begin() {
  for (const int number : met_) {
    unknowns_[at(number)].delta = 0;
    unknowns_[at(number)].is_met = false;
  }
  met_.clear();
}

bool LocalCorrection::solve(const std::vector<double>& values, const Vector& x) {
  begin();
  // A row is open once at a time: no more are opened than n and those that are closed.
  const std::size_t most = opened_ + at(n_);
  std::size_t next = 0;
  while (next < opened_ && next < most && step(queue_[next], values.data(), x.data())) ++next;
  const bool is_solved = next == opened_;
  for (; next < opened_; ++next) {
    Row& row = rows_[at(queue_[next])];
    row.r = 0;
    row.is_open = false;
  }
  opened_ = 0;
  return is_solved;
}

/// In a step the unknown that determines ẋ_j is x_j.
void SparseSteps::find_own_entries() {
  own_entry_.assign(at(n_), -1);
  const std::vector<linear::Place>& places = all_rows_.places();
  for (std::size_t k = 0; k < places.size(); ++k)
    if (places[k].column == structure_.matching.column_of_row[at(places[k].row)])
      own_entry_[at(places[k].row)] = static_cast<int>(k);
}

/// Are all rows 0 within their gates, some of them solved alone? Where the terms of a row all but vanish (y = z (x - 1) for
/// z = 0), what the other rows round by is more than its own gate and a large share of its unknown, and each correction of all
/// unknowns brings it back.
bool SparseSteps::arrives_by_rows(double t, double h) {
  if (arrives(t, h, Until::zero)) return true;
  values_.resize(all_rows_.places().size());
  all_rows_.matrix(inputs_.data(), h, values_);
  return solve_rows_alone() && arrives(t, h, Until::zero);
}

/// Those beyond their gates, each for the unknown that the structure gives it. False: one has no slope there.
bool SparseSteps::solve_rows_alone() {
  if (own_entry_.empty()) find_own_entries();
  for (int i = 0; i < n_; ++i) {
    const double row = rows_[at(i)];
    if (std::abs(row) <= most_rounding * errors_[at(i)]) continue;
    const int entry = own_entry_[at(i)];
    if (entry < 0 || !(std::abs(values_[at(entry)]) > 0) || !std::isfinite(row)) return false;
    x_end_[all_rows_.places()[at(entry)].column] -= row / values_[at(entry)];
  }
  return true;
}

}  // namespace perp

#include <algorithm>
#include <cmath>
#include <iterator>
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
    : n_(n),
      place_of_pivot_(at(n), -1),
      unknown_of_row_(structure.matching.column_of_row.begin(), structure.matching.column_of_row.begin() + n),
      unknowns_(at(n)),
      queue_(3 * at(n) + 1),
      met_(at(n) + 1) {
  const auto is_one_of_these = [n](int unknown) { return unknown >= 0 && unknown < n; };
  serves_ = std::all_of(unknown_of_row_.begin(), unknown_of_row_.end(), is_one_of_these);
  if (!serves_) return;
  const auto is_pivot = [&](const linear::Place& place) { return unknown_of_row_[at(place.row)] == place.column; };
  for (const linear::Place& place : places)
    if (!is_pivot(place)) ++unknowns_[at(place.column)].behind;
  int first = 0;
  for (Unknown& unknown : unknowns_) {
    const int count = std::exchange(unknown.behind, first);
    unknown.first = first;
    first += count;
  }
  entries_.resize(at(first));
  place_of_entry_.resize(at(first));
  for (std::size_t k = 0; k < places.size(); ++k) {
    if (is_pivot(places[k])) {
      place_of_pivot_[at(places[k].column)] = static_cast<int>(k);
      continue;
    }
    const int entry = unknowns_[at(places[k].column)].behind++;
    entries_[at(entry)].unknown = unknown_of_row_[at(places[k].row)];
    place_of_entry_[at(entry)] = static_cast<int>(k);
  }
  serves_ = std::all_of(place_of_pivot_.begin(), place_of_pivot_.end(), [](int place) { return place >= 0; });
}

void LocalCorrection::set_matrix(const std::vector<double>& values) {
  for (std::size_t j = 0; j < unknowns_.size(); ++j) unknowns_[j].pivot = values[at(place_of_pivot_[j])];
  for (std::size_t k = 0; k < entries_.size(); ++k) entries_[k].value = values[at(place_of_entry_[k])];
}

/// Corrections one after the other. What opens or meets a row for the first time is not foreseen by processors:
/// its number is written each time, and counts once.
struct LocalCorrection::Pass {
  Unknown* unknowns;
  const Entry* entries;
  int* queue;
  int* met;
  std::size_t opened, met_count = 0;

  void open(int number) {
    queue[opened] = number;
    opened += std::exchange(unknowns[number].is_open, true) ? 0 : 1;
  }
  /// The correction of one row. False: it is no number.
  bool step(int number, double x) {
    Unknown& own = unknowns[number];
    const double r = std::exchange(own.r, 0.0), delta = r / own.pivot;
    own.is_open = false;
    if (r == 0) return true;
    if (!std::isfinite(delta)) return false;
    if (std::abs(delta) <= no_digit * std::abs(x)) return true;
    met[met_count] = number;
    met_count += std::exchange(own.is_met, true) ? 0 : 1;
    own.delta += delta;
    for (const Entry *entry = entries + own.first, *behind = entries + own.behind; entry != behind; ++entry) {
      unknowns[entry->unknown].r -= entry->value * delta;
      open(entry->unknown);
    }
    return true;
  }
};

void LocalCorrection::replace(int row, double r) {
  const int number = unknown_of_row_[at(row)];
  Unknown& unknown = unknowns_[at(number)];
  unknown.r = r;
  if (!std::exchange(unknown.is_open, true)) queue_[opened_++] = number;
}

void LocalCorrection::begin() {
  for (const int number : unknowns()) {
    unknowns_[at(number)].delta = 0;
    unknowns_[at(number)].is_met = false;
  }
  met_count_ = 0;
}

bool LocalCorrection::solve(const Vector& x) {
  begin();
  Pass pass{unknowns_.data(), entries_.data(), queue_.data(), met_.data(), opened_};
  // A row is open once at a time: no more are opened than n and those that are closed.
  const std::size_t most = opened_ + at(n_);
  std::size_t next = 0;
  while (next < pass.opened && next < most && pass.step(queue_[next], x[queue_[next]])) ++next;
  const bool is_solved = next == pass.opened;
  for (; next < pass.opened; ++next) {
    Unknown& unknown = unknowns_[at(queue_[next])];
    unknown.r = 0;
    unknown.is_open = false;
  }
  met_count_ = pass.met_count;
  opened_ = 0;
  return is_solved;
}

void SparseSteps::put_state(int j, double h) {
  inputs_[at(1 + j)] = (x_end_[j] - begin_[j]) / h;
  inputs_[at(1 + n_ + j)] = x_end_[j];
  changed_.add(1 + j);
  changed_.add(1 + n_ + j);
}

/// The equations that hold what differs, with their present values.
void SparseSteps::replace_rows() {
  LocalRates& rates = path_.rates();
  const auto set_row = [&](int row) { local_->replace(row, rates.row(row, inputs_)); };
  for (const int j : shifted_)
    for (const int row : all_rows_.rows_of_rate(j)) set_row(row);
  for (const int i : flipped_)
    for (const int row : rates.equations_of_binary(i)) set_row(row);
}

/// The same from the solution for the start and binaries before, in the rows that differ: F is 0 in the
/// others. False: too much does.
bool SparseSteps::solve_locally(double h) {
  for (const int j : shifted_) put_state(j, h);
  for (const int i : flipped_) {
    changed_.add(1 + 2 * n_ + i);
    inputs_[at(1 + 2 * n_ + i)] = z_end_[at(i)];
  }
  replace_rows();
  if (std::exchange(local_h_, h) != h) local_->set_matrix(factors_.at(h).values);
  if (!local_->solve(x_end_)) return false;
  for (const int j : local_->unknowns()) {
    x_end_[j] -= local_->correction(j);
    put_state(j, h);
  }
  mark_constraints();
  return true;
}

const std::vector<int>& SparseSteps::ByEither::with(const std::vector<int>& now) {
  if (now == last_) return all_ = sorted_;
  last_ = now;
  before_.swap(sorted_);
  sorted_ = now;
  std::sort(sorted_.begin(), sorted_.end());
  all_.clear();
  std::set_union(before_.begin(), before_.end(), sorted_.begin(), sorted_.end(), std::back_inserter(all_));
  return all_;
}

/// The start that the path shifts and the binaries at its end, and where they differ from the repetition
/// before: only what one of the two paths has changed does.
void SparseSteps::find_differences() {
  shifted_ = moved_by_either_.with(path_.moved());
  starts_.clear();
  for (const int j : shifted_) starts_.push_back(std::exchange(begin_[j], x_[j]));
  path_.shift(begin_);
  std::size_t k = 0;
  std::erase_if(shifted_, [&](int j) { return begin_[j] == starts_[k++]; });
  flipped_ = flipped_by_either_.with(path_.flipped());
  std::erase_if(flipped_, [&](int i) { return std::exchange(z_end_[at(i)], path_.z()[at(i)]) == path_.z()[at(i)]; });
}

/// Those that hold what differs or is corrected have other values than at the end before.
void SparseSteps::mark_constraints() {
  const LocalRates& rates = path_.rates();
  const auto mark = [&](std::span<const int> constraints) {
    for (const int l : constraints) old_.add(l);
  };
  const auto mark_of_unknown = [&](int j) {
    if (moved_.holds(j)) return;
    moved_.add(j);
    mark(rates.constraints_of_unknown(j));
    mark(rates.constraints_of_state(j));
  };
  for (const int j : shifted_) mark_of_unknown(j);
  for (const int j : local_->unknowns()) mark_of_unknown(j);
  for (const int i : flipped_) mark(rates.constraints_of_binary(i));
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
bool SparseSteps::arrives_by_rows(double h) {
  if (arrives(h, Until::zero)) return true;
  values_.resize(all_rows_.places().size());
  all_rows_.matrix(inputs_.data(), h, values_);
  return solve_rows_alone() && arrives(h, Until::zero);
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

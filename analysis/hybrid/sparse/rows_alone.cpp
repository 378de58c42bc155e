// Rows of a step that are solved alone.
#include <algorithm>
#include <cmath>

#include <perp/analysis/hybrid/sparse/sparse_steps.hpp>
#include <perp/core/base/index.hpp>
#include <perp/schemes/step/step_gate.hpp>

namespace perp {

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

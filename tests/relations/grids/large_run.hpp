#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/core/trajectory.hpp>
#include <perp/models/language/model.hpp>
#include <perp/tests/relations/grids/large_model.hpp>

namespace perp::relations {

/// What became of a large model: its run by backward Euler, or why it was refused.
struct LargeRun {
  Trajectory run{};
  std::string refusal{};
  bool is_slow = false;  ///< the limit of rows or of time ended it

  /// The last state at t; size 0 where no row is there.
  [[nodiscard]] Vector at(double t, double near) const;
};

/// How it is run.
struct LargeSettings {
  bool splits = true;  ///< steps are split at events
  std::string solver{};
  double seconds = 20;
};

LargeRun run_large(Model model, const LargeSettings& settings);
/// Reads the text, whose files are in `folder`, and runs it.
LargeRun run_large(const std::string& text, const LargeSettings& settings, const std::string& folder = {});

/// The first row of a step, or law behind one, that the run misses by more than rounding, by products and sums of long
/// doubles; empty: none. Law i of the run is that of the model. `splits`: steps may be made in pieces, which are not looked at.
std::string fault_of(const LargeModel& model, const LargeRun& run, bool splits);

/// Where a variable of one run stands in another one, and by which factor it is larger.
struct LargePlaces {
  std::vector<int> variables;
  std::vector<double> factors;
  double time = 1;
};
LargePlaces same_places(int n);

/// The first difference of status, end, or states at whole steps in a sentence; empty: none.
std::string difference(const LargeModel& model, const LargeRun& here, const LargeRun& there, const LargePlaces& by);
/// Are all states, moments and events the same doubles up to the factors?
bool same_bits(const LargeRun& here, const LargeRun& there, const LargePlaces& by);

}  // namespace perp::relations

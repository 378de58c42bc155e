#pragma once

#include <string>
#include <vector>

#include <perp/analysis/convergence/grid_run.hpp>

namespace perp {

/// How the events of a run differ from those of a reference.
struct EventDifference {
  double largest = 0;  ///< |difference| of times; 0 where neither has events
  std::string text{};  ///< where the lists do not match: the first law that differs, for people
};

/// Matches the k-th event of a law with the k-th of the same law, which must be of the same kind;
/// the order of events of different laws does not count, as they may be simultaneous.
EventDifference compare_events(const std::vector<EventMark>& run,
                               const std::vector<EventMark>& reference);

}  // namespace perp

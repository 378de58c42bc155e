#pragma once

#include <vector>

#include <perp/analysis/enclosure/modes/monitor.hpp>
#include <perp/analysis/enclosure/proof/proof_log.hpp>

namespace perp::enclosure {

/// How far a step is certain.
struct Stop {
  double t = 0;
  int reached = -1;    ///< the monitor of an event of the centre there; -1: none
  int undecided = -1;  ///< where it is certain nowhere: the monitor that is not
};

/// Carries the monitors, slice by slice, over a step that is prepared at t: as far as all of them are
/// certain, at most to an event of the centre, which is rounded to the grid of times.
Stop next_stop(const TaylorStep& step, const Doubleton& set, double t, double grid,
               std::vector<Monitor>& monitors, ProofLog& proof);

}  // namespace perp::enclosure

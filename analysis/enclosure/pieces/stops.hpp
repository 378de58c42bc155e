#pragma once

#include <vector>

#include <perp/analysis/enclosure/modes/monitor.hpp>
#include <perp/analysis/enclosure/proof/proof_log.hpp>

namespace perp::enclosure {

/// How far a step is certain.
struct Stop {
  double t = 0;
  int reached = -1;       ///< the monitor of an event of the centre there; -1: none
  int undecided = -1;     ///< where it is certain nowhere: the monitor that is not
  int shortened_by = -1;  ///< where less than a slice of the step is: the monitor that is not
};

/// Steps in a row of which less than a slice was certain. Few of them lead to an event or away from
/// one; where there is no end of them the set is too wide for the sign of a gap.
class ShortSteps {
 public:
  /// One more step: were there so many of them that the next will not help?
  bool are_in_vain(const Stop& stop) {
    in_a_row_ = stop.shortened_by < 0 || stop.reached >= 0 ? 0 : in_a_row_ + 1;
    if (in_a_row_ <= most) return false;
    in_a_row_ = 0;
    return true;
  }

 private:
  static constexpr int most = 64;
  int in_a_row_ = 0;
};

/// Carries the monitors, slice by slice, over a step that is prepared at t: as far as all of them
/// are certain, at most to an event of the centre, which is rounded to the grid of times.
Stop next_stop(const TaylorStep& step, const Doubleton& set, double t, double grid,
               std::vector<Monitor>& monitors, ProofLog& proof);

}  // namespace perp::enclosure

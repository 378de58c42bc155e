#pragma once

#include <vector>

#include <perp/analysis/enclosure/taylor_step.hpp>

namespace perp::enclosure {

/// What is known of a gap m since the last event.
enum class Trend {
  positive,  ///< m > 0
  falling,   ///< was positive, m' < 0: each member meets 0 once, or not yet
  rising,    ///< was 0 and m' > 0 since
  bending    ///< was 0 with m' = 0, and m'' > 0 since
};

/// One gap of a mode under watch.
struct Monitor {
  int gap = -1;  ///< output of the flow
  int side = 1;  ///< m is the output times this
  Trend trend = Trend::positive;
};

/// The derivative number `order` of m over times τ of a step, for all members.
Interval gap_range(const TaylorStep& step, const Monitor& monitor, int order, const Interval& tau,
                   const Doubleton& set);

/// Carries the monitors over these times; they begin where the trends hold. -1: all are certain;
/// else the first one that is not. Which of several that fall is 0 first is told at the event of one.
int watch(const TaylorStep& step, const Doubleton& set, const Interval& tau,
          std::vector<Monitor>& monitors);

}  // namespace perp::enclosure

#pragma once

#include <perp/schemes/lanes/lane_step.hpp>

namespace perp::eight {

/// Has this processor instructions for runs side by side?
bool has_lanes();
/// Common steps of the lanes in `taken` until one is given up, or `most` were made: `taken` keeps those that go on.
/// Only where the processor has lanes.
void run_lanes(Lanes& lanes, Bits* taken, long most);

}  // namespace perp::eight

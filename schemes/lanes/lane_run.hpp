#pragma once

#include <perp/schemes/lanes/lane_step.hpp>

namespace perp::eight {

/// Common steps of the lanes in `taken` until one is given up, or `most` were made: `taken` keeps those that go on.
/// `is_plain`: by the instructions that every processor has.
void run_lanes(Lanes& lanes, Bits* taken, long most, bool is_plain);

}  // namespace perp::eight

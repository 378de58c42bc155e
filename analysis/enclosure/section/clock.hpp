#pragma once

#include <perp/core/dcs.hpp>

namespace perp::enclosure {

/// Do its equations, arguments of laws and resets hold no time?
bool is_autonomous(const Dcs& system);

/// The same with one variable more, behind the others, that is time: der(clock) = 1. Of a system that
/// is autonomous the time of the tape is then one of computing only.
Dcs with_clock(const Dcs& system);

}  // namespace perp::enclosure

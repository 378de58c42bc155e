#pragma once

#include <perp/core/dcs.hpp>

namespace perp::enclosure {

/// The same system with one variable more, behind the others, that is time: der(clock) = 1, and stands
/// for it in all formulas. It is autonomous: the time of the tape is one of computing only.
Dcs with_clock(const Dcs& system);

}  // namespace perp::enclosure

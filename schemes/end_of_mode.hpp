#pragma once

#include <perp/schemes/scheme.hpp>

namespace perp {

/// From `before`, from where a step of length h to t_next leaves the mode: the longest step that keeps
/// it, found to rounding, so that the numbers of a mode depend on nothing that stands beside it; the
/// whole step where the mode ends with it. False: the scheme stands at `before` again, since the mode
/// ends there, could have stayed, or its end was not found.
bool go_to_end_of_mode(Scheme& scheme, const Step& before, double t_next, double h);

}  // namespace perp

#pragma once

#include <vector>

#include <perp/schemes/scheme.hpp>

namespace perp {

/// From `before`, from where a step of length h to t_next leaves the mode: the longest step that keeps
/// it, found to rounding, so that the numbers of a mode depend on nothing that stands beside it; the
/// whole step where the mode ends with it. False: the scheme stands at `before` again, since the mode
/// ends there, could have stayed, or its end was not found. `ends`: the shares of the step by which
/// shorter ones have left the branches of laws.
bool go_to_end_of_mode(Scheme& scheme, const Step& before, double t_next, double h,
                       std::vector<Scheme::Departure>& ends);

/// The departures of a step, each no later than shorter steps have shown: they tell the moment better
/// than the secant of a margin that starts as rounding.
std::vector<Scheme::Departure> sooner(std::vector<Scheme::Departure> departures,
                                      const std::vector<Scheme::Departure>& ends);

}  // namespace perp

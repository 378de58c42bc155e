#pragma once

#include <perp/schemes/scheme.hpp>

namespace perp {

/// What a step that leaves its mode was replaced by.
struct ModeEnd {
  bool is_reached = false;  ///< the longest step that keeps the mode, or a shorter one before a pole of the step
  double early = 0;  ///< the last of the changes in the first moments of the whole step, as a share of it; 0: none
  Mode after{};  ///< that of the whole step where it has changed laws that the mode before does not lead away; else empty
  bool is_before_pole = false;  ///< the step is too long for its mode, which goes on behind the shorter one
};

/// From `before`, from where a step of length h to t_next leaves the mode: the longest step that keeps
/// it, found to rounding, so that the numbers of a mode depend on nothing that stands beside it; the
/// whole step where the mode ends with it. Not reached: the scheme stands at `before` again, since the mode
/// ends there, could have stayed, or its end was not found.
ModeEnd go_to_end_of_mode(Scheme& scheme, const Step& before, double t_next, double h);

/// Where that step, `whole` its motion, changes laws as `early` as `go_to_end_of_mode` does not look for: goes on to such
/// a change, as a step of about that length does it, if the mode until then moves a row by more than a small share of
/// the whole step: a short pulse may be all that moves a row. Rows up to their `rounding` say nothing. False: the
/// scheme stands at `before`.
bool pass_brief_mode(Scheme& scheme, const Step& before, const Vector& whole, double h, double early,
                     const Vector& rounding);

/// Where that step leaves its mode at once, and laws change that the mode before does not lead away, these may do so later,
/// led by the mode that comes first: a tiny step goes there, unless it ends in the mode `after` of the whole step, or
/// jumps. False: the scheme stands at `before`.
bool pass_change_at_once(Scheme& scheme, const Step& before, double h, const Mode& after, const Vector& rounding);

}  // namespace perp

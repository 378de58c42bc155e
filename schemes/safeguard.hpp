#pragma once

#include <vector>

#include <perp/core/trajectory.hpp>
#include <perp/schemes/scheme.hpp>

namespace perp {

/// A change of mode found by halving steps, between two times that are h·2^-refinements apart.
struct LocatedChange {
  Step before;
  Step after;
  double norm;  ///< ‖E (x_after - x_before)‖ over that tiny step
};

/// A step passed in shorter ones.
struct Refinement {
  Status status =
      Status::never_run;  ///< solved: the scheme stands at t_next; else at the last state reached
  std::vector<LocatedChange> changes;
  std::string message{};
};

/// Makes the step of length h from `before` to t_next, which is known to be solved, the current
/// state.
void take_step(Scheme& scheme, const Step& before, double t_next, double h);

/// Does ‖E (x⁺ − x)‖ = `norm` of a step of length h from `before` shrink with h, as that of a
/// smooth step or a kink does and that of a jump does not? `size`: the largest |x| seen so far,
/// raised here. The scheme stands at `before`, before and after.
bool shrinks(Scheme& scheme, const Step& before, double norm, double h, double& size);

/// Does the step of length h from `before` to t_next change laws at several moments?
/// Then it skips a mode, however small its own change is. The scheme stands at `before` afterwards.
bool skips_modes(Scheme& scheme, const Step& before, double t_next, double h);

/// Where that step changes some laws at once and others later: makes a shorter one that changes the
/// former only. False: the scheme stands at `before`. `size`: see `shrinks`.
bool pass_first_change(Scheme& scheme, const Step& before, double t_next, double h, double& size);

/// From `before`, from where a step of length h to t_next leaves the mode: a shorter step as far as
/// the mode lasts, up to a small share of h. False: the scheme stands at `before` again, since the
/// mode ends there, could have stayed, or its end was not found.
bool go_to_end_of_mode(Scheme& scheme, const Step& before, double t_next, double h);

/// Passes from the scheme's current state to t_next by steps that keep their mode, halving until
/// each change of mode happens within h·2^-refinements: a true jump keeps its size there, an
/// artefact of a long step vanishes, and where no step however short has a solution the solution
/// ends. (A rest of less than 1e-9 h, too short to tell, is taken for the end of the step.)
Refinement refine(Scheme& scheme, double t_next, double h, int refinements);

}  // namespace perp

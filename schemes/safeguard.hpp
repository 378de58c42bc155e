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

/// Passes from the scheme's current state to t_next by steps that keep their mode, halving until
/// each change of mode happens within h·2^-refinements: a true jump keeps its size there, an
/// artefact of a long step vanishes, and where no step however short has a solution the solution
/// ends.
Refinement refine(Scheme& scheme, double t_next, double h, int refinements);

}  // namespace perp

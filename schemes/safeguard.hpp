#pragma once

#include <vector>

#include <perp/core/trajectory.hpp>
#include <perp/schemes/scheme.hpp>

namespace perp {

/// Share of the motion of a row of E x in a step: what changes by less at once is no jump.
inline constexpr double jump_share = 1e-6;
/// Times the rates at the ends of a short step: what they may move in it.
inline constexpr double moved_by_rates = 2;
/// Of the step length: the last of a step that is its end.
inline constexpr double end_of_step = 1e-9;
/// Share of a step that is worth a step of its own.
inline constexpr double least_share = 1e-3;

/// A change of mode found by halving steps, between two times that are h·2^-refinements apart.
struct LocatedChange {
  Step before;
  Step after;
  double moment;            ///< at which the mode ends; `after` may be later, where rounding hides what shorter steps do
  double norm;              ///< ‖E (x_after - x_before)‖ over that tiny step
  Vector rounding{};        ///< what the rounding of its steps, which may be far shorter than others, makes of a motion
  std::vector<int> lost{};  ///< at a fold or a pole of the mode before, see Scheme::lost_variables
};

/// A step passed in shorter ones.
struct Refinement {
  Status status =
      Status::never_run;  ///< solved: the scheme stands at t_next; else at the last state reached
  std::vector<LocatedChange> changes;
  std::string message{};
  Step from{}, to{};  ///< the states at both ends
  std::vector<Step> path{};  ///< those accepted on the way
};

/// Makes the step of length h from `before` to t_next the current state. False: from there it is not
/// solved, whatever it was from a guess that is gone; the scheme stands at `before`.
[[nodiscard]] bool take_step(Scheme& scheme, const Step& before, double t_next, double h);

/// The rows of E (x⁺ − x) = `whole` of a step of length h from `before` that do not shrink with h as
/// those of a smooth motion or a kink do: a jump, or an artefact of the length. Rows up to their
/// `rounding` say nothing. The scheme stands at `before`, before and after.
std::vector<int> unsteady_rows(Scheme& scheme, const Step& before, const Vector& whole, double h,
                               const Vector& rounding);

/// Does ‖E dx‖ of a step shrink with its length, though single rows are not steady? Such a step is
/// taken where its short steps are not solved, and counted.
bool shrinks_as_a_whole(Scheme& scheme, const Step& before, const Vector& whole, double h);

/// Did the long step, now current, end elsewhere than the short ones, in one of these rows?
bool differs(const Scheme& scheme, const Step& before, const Step& refined, const Vector& whole,
             const std::vector<int>& rows);

/// Is a change of mode across a tiny step of a refined step of length h a jump: does a row of E x
/// change there that moves by far less elsewhere, or, where the mode before has lost its branch, an
/// algebraic variable? `whole`: the motion of the step made at once, empty: unknown.
bool is_jump(const Scheme& scheme, const Refinement& refinement, const LocatedChange& change,
             const Vector& whole, double h, const Vector& rounding);

/// Does the step of length h from `before` to t_next change laws at several moments, or leave out a
/// change that a shorter one has to make? Then it skips a mode, however small its own change is. So it may
/// where it is not solved again. The scheme stands at `before` afterwards.
bool skips_modes(Scheme& scheme, const Step& before, double t_next, double h);

/// Where that step changes some laws at once and others later: makes a shorter one that changes the
/// former only. False: the scheme stands at `before`.
bool pass_first_change(Scheme& scheme, const Step& before, double t_next, double h,
                       const Vector& rounding);

/// Does the current mode end with the current state of a run in steps of h? Told by a step too short
/// for anything else.
bool leaves_at_once(Scheme& scheme, double h);

/// Passes from the scheme's current state to t_next by steps that keep their mode, halving until
/// each change of mode happens within h·2^-refinements: a true jump keeps its size there, an
/// artefact of a long step vanishes, and where no step however short has a solution the solution
/// ends. (A rest of less than 1e-9 h, too short to tell, is taken for the end of the step.)
Refinement refine(Scheme& scheme, double t_next, double h, int refinements);

}  // namespace perp

#pragma once

#include <vector>

#include <perp/core/trajectory.hpp>

namespace perp {

class Scheme;

/// What a step that leaves the mode moves: E dx, row by row.
struct Leap {
  double length;
  Vector motion;
};

/// Does what steps that leave the mode move grow without bound as they get shorter? What a jump moves
/// approaches its size, what a motion moves vanishes. A root that goes to infinity for h → 0, as one of
/// z⁺ = z + h z⁺|z⁺| does as −1/h, belongs to no solution: it grows with each shorter step, and by no less
/// in the shorter ones, per power of two of their lengths.
/// `leaps`: in the order in which they were tried, each from where the mode was known to last; the last one is of the step
/// that is taken: of shorter ones rounding decides what they move, and they do not count. `rounding`: of each row.
[[nodiscard]] bool grow_without_bound(std::vector<Leap> leaps, const Vector& rounding);

/// What rounding makes of the motion E dx of the last accepted step from this state: that of x over the length of the step too,
/// which is all that a rate has left in a step of some ulps of t.
[[nodiscard]] Vector motion_by_rounding(Scheme& scheme, const Vector& before);

/// Accepts the attempted step, which leaves the mode of `before`. It is made again by longer ones, as long as rounding over its
/// length is what decides where it ends and shrinks with the length. Where none of them is in its mode, rounding has decided that
/// too: then the shortest that is known stands. If no length helps, the first one.
void leave_by_known_step(Scheme& scheme, const Step& before, double t_next, double h);

}  // namespace perp

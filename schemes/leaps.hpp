#pragma once

#include <vector>

#include <perp/core/base/types.hpp>

namespace perp {

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

}  // namespace perp

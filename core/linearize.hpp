#pragma once

#include <perp/core/base/types.hpp>
#include <perp/core/dcs.hpp>
#include <perp/core/lcs.hpp>

namespace perp {

/// A state of a Dcs in the middle of its laws' branches.
struct ModeState {
  Vector xdot, x, lambda;
};

/// The state (x, λ) of a mode at t: λ on the mode's branches over w(x), in the middle of its range
/// where the branch leaves it open (0 where that is infinite); ẋ the smallest one that solves the
/// equations as far as they can be. It need not satisfy algebraic equations or ranges.
ModeState state_in_mode(const Dcs& system, double t, const Vector& x, const Mode& mode);

/// The system linearised at a state:
///     E = ∂F/∂ẋ,  A = -∂F/∂x,  B = -∂F/∂λ,  C = ∂G/∂x,  D = ∂G/∂λ
/// with b, q such that it holds at the state exactly. Throws InvalidInput where G depends on ẋ or a
/// derivative is not finite.
Lcs linearized(const Dcs& system, double t, const ModeState& state);

}  // namespace perp

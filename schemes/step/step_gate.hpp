#pragma once

#include <perp/lcp/parametric/mode_map.hpp>
#include <perp/lcp/residual_gate.hpp>

namespace perp {

/// Largest residual of a state that is called solved, as a multiple of its rounding.
inline constexpr double most_rounding = misfit_limit;
/// Of a variable: rounding of its way in a nonlinear step beyond which it is solved for again from where it is; with a rate
/// where rows do not hold there.
inline constexpr double coarse_share = 0x1p-40;
/// Share of the way of an algebraic variable that its guess, of a step as long as the last one, may be off: from a guess farther
/// off Newton's method may have come to another root of the equations. Small, since a guess may itself be near another root.
inline constexpr double most_missed = 0x1p-4;
/// Share of a variable that no two roots are apart by.
inline constexpr double least_apart = 0x1p-26;

/// Puts λ into the ranges of the solution's mode, computes w and returns the residual of the point:
/// the largest of |r_i| / e_i over the rows  r = M11 u + M12 λ + q1  of the family at θ and the laws,
///     e_i = (n + m + k + 2) 2^-53 Σ |terms of row i|,
/// r evaluated in doubled precision. inf where a number is not finite.
double residual_in_roundings(const ParametricMlcp& family, const double* theta,
                             Solution& solution);

}  // namespace perp

#pragma once

#include <perp/schemes/located/equilibria/rest_equations.hpp>
#include <perp/schemes/newton/rank_newton.hpp>

namespace perp {

/// Newton's method to a root of the equations of a mode to within rounding, from where they are evaluated; at a multiple
/// root by multiples of its corrections. Entries of which no digit is left are 0 where 0 solves the equations as well.
/// False: it converges to none.
bool find_root(RestEquations& equations, RankNewton& newton);

/// How far the root is at most from where the equations stand (N), twice the correction that the bounds of the residual ask
/// for, |y − y*| ≤ 2 Σ_i |J⁻¹ e_i| (|H_i| + rounding): the error at a simple root. Unknowns that
/// the equations leave open carry the rounding of the way from the start.
Vector root_errors(RestEquations& equations, RankNewton& newton);

/// Is it one root for all that rounding shows: do all points looked at between these two solve the equations?
bool is_one_root(RestEquations& equations, const Vector& a, const Vector& b);

/// Is the root, at which the equations stand, one of a continuum? Roots beside it are looked for along the unknowns that
/// the equations leave open.
bool has_roots_beside(RestEquations& equations, RankNewton& newton);

}  // namespace perp

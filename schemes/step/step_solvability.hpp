#pragma once

#include <perp/core/lcs.hpp>
#include <perp/lcp/parametric/orientation.hpp>

namespace perp {

/// Has a step of the θ-method exactly one solution (x⁺, λ) from every state, whatever b and q are?
/// (A no holds for some b and q, not necessarily those of the system.)
/// The step matrix of a mode is singular exactly for h = 1/(θ s), s a positive eigenvalue of the
/// mode's flow (with B/θ instead of B in its differential equations); between these h no
/// determinant changes its sign. So one h below all of them decides for every shorter step.
struct StepSolvability {
  UniqueSolvability at_h;     ///< for the step length asked for
  UniqueSolvability shorter;  ///< for every step length below `below`
  double below = inf;         ///< smallest h where the matrix of some mode becomes singular; NaN
                              ///< where the eigenvalues of a mode could not be computed
  Mode mode{};                ///< that mode; empty: none does
};

/// `below` comes from eigenvalues computed in double (those whose imaginary part is below 1e-6 of
/// their size count as real); a mode whose pencil is singular has a singular matrix for every h and
/// is found by the determinants. Throws InvalidInput: options, a model with more than `max_modes`
/// modes.
StepSolvability step_solvability(const Lcs& lcs, double theta, double h, long max_modes = 4096);

/// Number of modes of these laws.
double mode_count(const std::vector<Law>& laws);

}  // namespace perp

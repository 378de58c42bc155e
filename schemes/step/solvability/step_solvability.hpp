#pragma once

#include <perp/core/lcs.hpp>
#include <perp/lcp/parametric/orientation.hpp>

namespace perp {

/// Has a step of the θ-method exactly one solution (x⁺, λ) from every state, whatever b and q are?
/// (A no holds for some b and q, not necessarily those of the system.)
/// The determinant of the step matrix of a mode is a polynomial of h; between its positive roots it keeps its
/// sign. So one h below the roots of all modes decides for every shorter step.
struct StepSolvability {
  UniqueSolvability at_h;     ///< for the step length asked for
  UniqueSolvability shorter;  ///< for every step length below `below`
  double below = inf;         ///< smallest h where the matrix of some mode becomes singular; NaN
                              ///< where the eigenvalues of a mode could not be computed
  Mode mode{};                ///< that mode; empty: none does
  bool is_always = false;     ///< the mode of `at_h` is singular, not for this h alone but for every one: its polynomial is 0
  bool is_proved = true;      ///< `below` comes from the polynomials in rational arithmetic; else from eigenvalues in
                              ///< double: s of the mode's flow (with B/θ for B in its differential equations) gives
                              ///< h = 1/(θ s), where the imaginary part is below 1e-6 of s
};

/// Blocks that no equation couples are looked at one by one. By eigenvalues where the polynomials would take too
/// long, and where rows of E were rounded to make algebraic equations of them. A mode whose matrix is singular for
/// every h is found by the determinants at h. Throws InvalidInput: options, a model with more than `max_modes`
/// modes.
StepSolvability step_solvability(const Lcs& lcs, double theta, double h, long max_modes = 4096);

/// Number of modes of these laws.
double mode_count(const std::vector<Law>& laws);

}  // namespace perp

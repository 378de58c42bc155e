#pragma once

#include <string>

#include <perp/lcp/selector.hpp>

namespace perp {

/// Implicit Euler, event capturing: one MLCP per step, [RAB] eq. (29).
///     E (x⁺ − x) = h (A x⁺ + B λ⁺ + b⁺),   w⁺ = C x⁺ + D λ⁺ + q⁺,   laws at ⁺
/// Several solutions are possible; `selector` chooses. First order where the solution is unique.
struct BackwardEuler {
  double h = 1e-2;  ///< step, in the model's unit of time; > 0
  /// Which of several solutions is taken.
  Selector selector = Selector::keep_mode;
  double tol = 1e-10;    ///< largest accepted residual of a solver, affine systems
  std::string solver{};  ///< method for `first` and beyond enumeration; empty: lemke
  int refinements = 40;  ///< how often a step may be halved to tell a jump from an artefact
  /// A step in which the mode changes is made in two: to where the mode ends, and on from there.
  /// Else the error depends on where in its step an event falls, by a factor of about 2; false is
  /// for comparisons with codes whose steps are all h.
  bool split_at_events = true;
  std::string petsc{};  ///< of solver petsc: PETSc's own options, e.g. "-pc_type gamg"
};

/// The θ-method on the smooth part, implicit in λ and in the algebraic equations:
///     E (x⁺ − x) = h (θ (A x⁺ + b⁺) + (1-θ) (A x + b)) + h B λ⁺
struct Theta {
  double h = 1e-2;     ///< step, in the model's unit of time; > 0
  double theta = 0.5;  ///< in [1/2, 1]; 1 is backward Euler
  Selector selector = Selector::keep_mode;  ///< which of several solutions is taken
  double tol = 1e-10;                       ///< largest accepted residual of a step, relative
  std::string solver{};                     ///< as of BackwardEuler
  int refinements = 40;                     ///< as of BackwardEuler
  bool split_at_events = true;              ///< as of BackwardEuler
  std::string petsc{};                      ///< as of BackwardEuler
};

}  // namespace perp

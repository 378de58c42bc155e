#pragma once

#include <utility>
#include <vector>

#include <perp/schemes/located/jets/mode_selection.hpp>

namespace perp {

/// A jump of the differential variables at one moment, and how the solution goes on after it.
struct Jump {
  Mode mode;                                ///< the branches that carry the impulses
  Vector x;                                 ///< after the jump (n)
  Vector lambda;                            ///< finite part after the jump (m)
  Vector variable_impulse;                  ///< ∫ of the algebraic variables over the jump (n)
  Vector multiplier_impulse;                ///< ∫ of the multipliers over the jump (m)
  double size = 0;                          ///< ‖∂F/∂ẋ (x⁺ − x⁻)‖
  bool minimal = false;                     ///< no other jump is smaller
  std::vector<Continuation> continuations;  ///< after the jump, at least one
  std::vector<int> carriers;                ///< laws of which λ or w has an impulse, in increasing order
};

struct Jumps {
  std::vector<Jump> found;  ///< in the order of their size
  /// Modes without a jump, with the relative residual of their equations, or the violation of a
  /// range or cone; inf where they determine no point or Newton's method fails.
  std::vector<std::pair<Mode, double>> rejected;
  bool complete = true;  ///< false: more than `SelectionOptions::most` modes
};

/// All jumps from x⁻ at t after which a continuous solution exists: the limit h → 0 of the implicit
/// Euler step. For each mode
///     ∂(F, G)/∂ẋ (x⁺ − x⁻) + ∂(F, G)/∂z Σ_z + ∂(F, G)/∂λ Σ_λ = 0,
/// where Σ_z are impulses of the algebraic variables, Σ_λ those of multipliers on vertical branches
/// without an end, with the sign of that end; and x⁺ fulfils the (hidden) constraints of the mode,
/// by its derivative array. F is linear in what has impulses. From x⁺ modes are selected as ever.
/// Jumps of size 0 are none. Laws with memory may be in any branch afterwards.
/// Throws InvalidInput as `select` and `ConsistentJets::solve` do.
Jumps find_jumps(const Dcs& system, ConsistentJets& jets, double t, const Vector& x,
                 const Vector& lambda, const SelectionOptions& options = {});

}  // namespace perp

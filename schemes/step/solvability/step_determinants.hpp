#pragma once

#include <vector>

#include <perp/lcp/exact/polynomials/polynomial.hpp>
#include <perp/lcp/solution_set.hpp>
#include <perp/schemes/step/step_equations.hpp>

namespace perp {

/// The determinants of the step matrices of one independent block of a system, mode by mode, as polynomials of
/// the step length h, without rounding: rows  E_i - θ h A_i, -h B_i  of the differential equations, A_i, B_i of
/// the algebraic ones,  a_j C_j, a_j D_j + b_j  of the laws with a_j w_j + b_j λ_j = c_j in the mode.
class StepDeterminants {
 public:
  StepDeterminants(const StepEquations& equations, const Block& block);

  /// Of the block's laws, in their order. Its degree may be smaller than its size.
  [[nodiscard]] Polynomial polynomial(const Mode& mode) const;
  /// Operations in rational numbers that one polynomial takes, about.
  [[nodiscard]] double work() const;

 private:
  using Rows = std::vector<std::vector<Rational>>;

  [[nodiscard]] Rows matrix(const Rows& laws, long h) const;

  Rows constant_, slope_;        // of the equations: constant + h slope
  Rows law_;                     // (C_j, D_j) of the laws
  const Laws* laws_;
  std::vector<int> lambda_;
  std::size_t degree_ = 0;       // at most
};

}  // namespace perp

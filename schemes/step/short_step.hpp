#pragma once

#include <perp/lcp/exact/polynomials/rational_function.hpp>
#include <perp/lcp/polyhedra/mode_polyhedron.hpp>
#include <perp/lcp/solution_set.hpp>
#include <perp/schemes/step/step_equations.hpp>

namespace perp {

/// The rows of an independent block of a step of length h → 0 from x at t, with E (x⁺ - x) as more
/// quantities w that may not be unbounded, each with the law λ = 0 and the range ±1/√h.
struct ShortStep {
  Block block;           ///< its variables (u), laws and equations
  Matrix E;              ///< the columns of the given E of its variables
  Vector x;              ///< of its variables, before
  int bounded = 0;       ///< quantities E (x⁺ - x), the last laws
  bool rounded = false;  ///< do entries of b and q stand in it that are known to a rounding only?
  bool known = true;     ///< are there bounds of all that is rounded?
  bool finite = true;    ///< have b and q values and slopes? If not, 0 stands for them
  AlgebraicProblem<RationalFunction> problem;

  [[nodiscard]] int n() const { return static_cast<int>(block.u.size()); }
  [[nodiscard]] int m() const { return static_cast<int>(block.lambda.size()); }
  /// E (x⁺ - x⁻) of a point or a direction (u, λ) of the problem.
  [[nodiscard]] std::vector<RationalFunction> change(const std::vector<RationalFunction>& y,
                                                     bool direction) const;
};

/// An entry of b or q in a step from t to t + h: value + slope h, each with a bound of its error.
struct ShortTerm {
  Rational value{}, slope{};
  double value_error = 0, slope_error = 0;
  bool varies = false;  ///< the terms of higher order count as well
  bool finite = true;   ///< false: it has no value or slope here, 0 stands for both
};

/// The short steps of all independent blocks of a system; each is made when it is asked for.
/// Everything is what its doubles are, without rounding, but for the entries of b and q that vary
/// with time.
class ShortSteps {
 public:
  /// Throws InvalidInput (see `validated`).
  ShortSteps(const Lcs& lcs, const Vector& x, double t);

  /// The blocks of the equations of all steps, whatever their length.
  [[nodiscard]] std::vector<Block> blocks() const;
  [[nodiscard]] ShortStep of(const Block& block) const;
  /// The same where each entry of b and q may be whatever its bounds allow: as a further law,
  /// behind all others, whose multiplier is what is added to it. A mode without solutions here has
  /// none for the exact entries.
  [[nodiscard]] ShortStep relaxed(const Block& block) const;
  /// The same step (or relaxed one) from where each row of E x that `change` has an entry for is larger by that, and x is
  /// this to a rounding.
  [[nodiscard]] ShortStep moved(ShortStep step, const std::vector<Rational>& change, const Vector& x) const;

 private:
  [[nodiscard]] Rational before(int row) const;
  void write_rows(ShortStep& step) const;

  StepEquations equations_;
  Vector x_;
  std::vector<ShortTerm> b_, q_;  // of a step from t to t + h
};

}  // namespace perp

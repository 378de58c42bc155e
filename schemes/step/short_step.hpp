#pragma once

#include <perp/lcp/parametric/laurent.hpp>
#include <perp/lcp/polyhedra/mode_polyhedron.hpp>
#include <perp/lcp/solution_set.hpp>
#include <perp/schemes/step/step_equations.hpp>

namespace perp {

/// The rows of an independent block of a step of length h → 0 from x at t, with E (x⁺ - x) as more
/// quantities w that may not be unbounded, each with the law λ = 0.
struct ShortStep {
  Block block;      ///< its variables (u), laws and equations
  Matrix E;         ///< the columns of the given E of its variables
  Vector x;         ///< of its variables, before
  int bounded = 0;  ///< quantities E (x⁺ - x), the last laws
  AlgebraicProblem<Laurent> problem;

  [[nodiscard]] int n() const { return static_cast<int>(block.u.size()); }
  [[nodiscard]] int m() const { return static_cast<int>(block.lambda.size()); }
  /// E (x⁺ - x⁻) of a point or a direction (u, λ) of the problem.
  [[nodiscard]] std::vector<Laurent> change(const std::vector<Laurent>& y, bool direction) const;
};

/// A change of E x that is larger is no bounded jump.
inline constexpr double unbounded_jump = 1e60;

/// The short steps of all independent blocks of a system; each is made when it is asked for.
class ShortSteps {
 public:
  /// Throws InvalidInput (see `validated`).
  ShortSteps(const Lcs& lcs, const Vector& x, double t);

  /// The blocks of the equations of all steps, whatever their length.
  [[nodiscard]] std::vector<Block> blocks() const;
  [[nodiscard]] ShortStep of(const Block& block) const;

 private:
  void find_parameter(double t);
  void write_rows(ShortStep& step) const;

  StepEquations equations_;
  Vector x_;
  ParametricMlcp at_0_, at_1_;      // families of h = 0 and h = 1: their rows are linear in h
  std::vector<Laurent> parameter_;  // of the families, for a step from t to t + h
};

}  // namespace perp

#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/core/dcs.hpp>
#include <perp/core/expression/equation.hpp>
#include <perp/models/language/lowering/exact_parameters.hpp>

namespace perp {

/// A law that the model states by name: (w, multiplier) on its graph.
struct StatedLaw {
  Law law;
  int argument = -1;  ///< line of w
  /// Numbers of parameters o, s, so that (w, μ) is on the graph and o + s μ is the multiplier; -1:
  /// μ is the multiplier itself.
  ///@{
  int offset = -1;
  int scale = -1;
  ///@}
};

/// Equations as they were read, lines of one tape with forms. Inputs of the tape:
///     x_1..n | multipliers of the stated laws | p_1..k | t
/// Formulas that do not define the system (outputs, resets) come after all lines of the equations.
struct EquationModel {
  explicit EquationModel(Scope given)
      : scope(std::move(given)), forms(static_cast<int>(scope.names.size())) {}

  Scope scope;
  std::vector<double> parameters{};
  /// The parameters without rounding, see lowering::Algebra.
  std::optional<lowering::ExactParameters> exact{};
  std::vector<StatedLaw> laws{};
  Tape tape{};
  Forms forms;
  std::vector<Equation> equations{};
  std::vector<int> outputs{};   ///< lines
  std::vector<Reset> resets{};  ///< their lines are lines of this tape

  [[nodiscard]] int n() const { return scope.variables; }
  /// What lowering::Algebra takes.
  [[nodiscard]] const lowering::ExactParameters* exact_parameters() const {
    return exact ? &*exact : nullptr;
  }
};

/// Where a law has the branches of another one it shares them.
void share_branches(Law& law, const Law& with);

/// A form cannot become a law: its numbers are wrong, or not constant.
class FormError : public InvalidInput {
 public:
  FormError(const std::string& message, FormPlace place) : InvalidInput(message), place_(place) {}
  [[nodiscard]] const FormPlace& place() const { return place_; }

 private:
  FormPlace place_;
};

/// The system, and the lines of the outputs on its tape.
struct LoweredModel {
  Dcs system;
  std::vector<int> outputs{};
};

/// Turns set-valued operators into laws, F = left - right. Laws are in the order in which they are
/// stated or first written; operators of one argument w share a law, and so do those of k w, with k
/// of numbers and parameters, and of an algebraic variable that an equation without operators gives as an
/// affine form of others (`Aliases`).
/// Of each argument is asked a jump (sign, step, conditions), a kink (abs, max, min), or both:
///     jump          λ ∈ sign(w), or λ ∈ [0, 1] (step) where only conditions ask
///     kink          λ = |w|, or λ = max(0, w)
///     both          λ ∈ |w| + β sign(w), one law of three branches, where every equation and every
///                   other argument holds them in that ratio, as in [RAB] eq. (11');
///                   else λ ∈ sign(w) with |w| = λ w, which is exact on each of its branches
/// `if(c, a, b)` is b + θ (a - b), θ the step of its condition: on the boundary the convex hull of
/// its branches (Filippov), in an algebraic equation as in [RAB] eq. (10), which pairs the branch
/// left of the boundary with the one right of it. Where a - b = k w + c with constants k, c it is
/// k max(0, w) + c θ, so that a continuous `if` is a kink. `a and b` is θ_a θ_b, `a or b` is
/// θ_a + θ_b - θ_a θ_b, `not a` is 1 - θ_a: products of independent selections are kept, as
/// Aizerman and Pyatnitskii define them. An argument that is constant and not 0 makes no law. In
/// outputs and resets operators use the laws that are there and else are single-valued: sign(0) =
/// 0. Throws FormError.
LoweredModel lower(const EquationModel& model);

}  // namespace perp

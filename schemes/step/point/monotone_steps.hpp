#pragma once

#include <optional>
#include <vector>

#include <perp/schemes/step/point/energy_form.hpp>

namespace perp {

/// A certificate by energy: up to `longest` every step of the system, from whatever state
/// and at whatever time, has at most one x⁺; 0: none was found. With diagonal P > 0 such that P B =
/// C' S, where S_j = 1 for falling laws and -1 for rising ones, and sym(S D) diagonally dominant,
/// two solutions of a step of length h have
///     Δx' P (E/h - θ A) Δx + Δλ' S D Δλ = Σ S_j Δw_j Δλ_j <= 0,
/// the first term positive unless Δx = 0 where P E/h outweighs the symmetric part of P θ A row by
/// row: passive circuits, masses with friction. What is left open is λ where D Δλ = 0 and B Δλ = 0.
/// Variables that are integrals of others, as positions of masses, are eliminated first where that serves: Δx = h θ A_xv Δv / e_x
/// adds -h θ² P A_vx A_xv / e_x to the matrix of the others, and a law of positions (a contact, a spring that only pushes) is
/// one of velocities: Δw = h θ C_x A_xv Δv / e_x + D Δλ. So are, for θ = 1, algebraic variables that equations give explicitly,
/// as forces with names.
/// What strongly connected components read of each other is left out: the x⁺ of one is that of its inputs.
/// Equality of P B and C' S is exact, as is dominance in D; the other sums have bounds of their
/// rounding. All but the length is the same for every θ.
class MonotoneSteps {
 public:
  /// `equations`, of any θ, must outlive it.
  explicit MonotoneSteps(const StepEquations& equations);
  [[nodiscard]] double longest(double theta);

  /// Where energy certifies the steps, does none of them jump from a consistent state (x, λ)? With E diagonal and regular, q
  /// constant and laws that read no positions and no other component's variables the same sum, with f = A x + B λ + b(t⁺), gives
  ///     Δx' P (E/h - θ A) Δx <= Δx' P f,
  /// Δx the motion of the step: it is at most a multiple of h, as what components read of others moves by no more.
  [[nodiscard]] bool is_continuous();

 private:
  /// A form with its weights; none where these do not serve.
  struct Weighted {
    EnergyForm form{};
    std::optional<EnergyWeights> weights{};
    void weigh(const std::vector<double>& signs);
    [[nodiscard]] double longest(double theta) const;
  };
  /// A form, and the same without integrals once that was asked for.
  struct Forms {
    Weighted whole{};
    std::optional<Weighted> reduced{};
    const Weighted& without_integrals(const std::vector<double>& signs);
    [[nodiscard]] double longest(double theta, const std::vector<double>& signs);
  };
  const StepEquations& equations_;
  std::optional<std::vector<double>> signs_;
  Forms given_;
  std::optional<Forms> without_explicit_;  // once it was asked for
};

/// That of these equations alone.
double longest_monotone_step(const StepEquations& equations);
/// The same of equations that may be affine; 0 where they are not.
double longest_monotone_step(const Dcs& system, double theta);

}  // namespace perp

#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/core/law.hpp>
#include <perp/core/lcs.hpp>
#include <perp/core/tape/tape.hpp>

namespace perp {

/// A state reset: where `condition` changes its sign in the given direction, the listed variables
/// get new values, all computed from the state before.
struct Reset {
  std::string name{};          ///< used in logs
  int condition = -1;          ///< line of the tape
  int direction = 0;           ///< -1: falls through 0, +1: rises through 0, 0: both
  std::vector<int> variables;  ///< indices into x
  std::vector<int> values;     ///< lines of the tape, one for each of them
};

/// Differential complementarity system, fully implicit:
///     0 = F(t, ẋ, x, λ; p),   w = G(t, ẋ, x, λ; p),   (w_i, λ_i) ∈ graph of law_i,  i = 1..m
/// F and G are lines of one tape, so they can be evaluated for any scalar. x holds differential and
/// algebraic variables alike: those whose derivative F and G do not contain are algebraic.
/// Inputs of the tape: t | ẋ_1..n | x_1..n | λ_1..m | p_1..k (see the members below).
struct Dcs {
  Tape tape;                       ///< the formulas of F, G and the resets
  std::vector<int> F;              ///< n lines
  std::vector<int> G;              ///< m lines
  Laws laws;                       ///< m
  std::vector<double> parameters;  ///< values of p
  std::vector<Reset> resets{};     ///< in declared order

  /// Number of variables and equations.
  [[nodiscard]] int n() const { return static_cast<int>(F.size()); }
  /// Number of laws.
  [[nodiscard]] int m() const { return static_cast<int>(laws.size()); }

  /// The input of the tape that is t.
  static constexpr int time_input() { return 0; }
  /// That of ẋ_j, j from 0.
  [[nodiscard]] int derivative_input(int j) const { return 1 + j; }
  /// That of x_j.
  [[nodiscard]] int variable_input(int j) const { return 1 + n() + j; }
  /// That of λ_i.
  [[nodiscard]] int multiplier_input(int i) const { return 1 + 2 * n() + i; }
  /// That of p_k.
  [[nodiscard]] int parameter_input(int k) const { return 1 + 2 * n() + m() + k; }
};

/// Throws InvalidInput where sizes do not fit, a line or an input does not exist, a parameter is not
/// finite or a law is unusable.
void validate(const Dcs& system);

/// The same system as an Lcs if F and G are affine in (ẋ, x, λ) with constant coefficients, G does
/// not contain ẋ, and there are no resets. b and q keep their dependence on t.
std::optional<Lcs> as_lcs(const Dcs& system);

/// The same system as a Dcs, without parameters. Throws InvalidInput where a shape does not fit, or b or
/// q is a function of t that is no expression.
Dcs as_dcs(const Lcs& lcs);

}  // namespace perp

#pragma once

#include <variant>
#include <vector>

#include <perp/core/dcs.hpp>
#include <perp/core/lcs.hpp>

namespace perp {

/// 0 = F(t, ẋ, x, λ; p),   w = G(t, ẋ, x, λ; p),   (w_i, λ_i) ∈ graph of law_i: matrices, or functions on a tape.
/// Who uses it never asks which of the two it was made of; only what proves things of affine systems asks for
/// matrices.
class System {
 public:
  /// No variables, no laws.
  System() = default;
  /// E ẋ = A x + B λ + b(t),  w = C x + D λ + q(t)
  System(Lcs matrices) : kind_(std::move(matrices)) {}
  /// One tape, its lines F and G, parameters, resets. Equations that are affine stay functions here: see `as_lcs`.
  System(Dcs functions) : kind_(std::move(functions)) {}

  /// Number of variables and of equations.
  [[nodiscard]] int n() const;
  /// Number of laws.
  [[nodiscard]] int m() const { return static_cast<int>(laws().size()); }
  /// m of them.
  [[nodiscard]] const Laws& laws() const;
  /// In declared order.
  [[nodiscard]] const std::vector<Reset>& resets() const;
  /// Indices of the variables whose derivative occurs.
  [[nodiscard]] std::vector<int> differential() const;

  /// The matrices of a system that is affine, else null.
  [[nodiscard]] const Lcs* affine() const { return std::get_if<Lcs>(&kind_); }
  /// The same, to change them.
  [[nodiscard]] Lcs* affine() { return std::get_if<Lcs>(&kind_); }
  /// F and G on one tape; those of matrices have no parameters. Throws InvalidInput where a shape of these does
  /// not fit, or b or q is a function of t that is no expression.
  [[nodiscard]] Dcs functions() const;
  /// The system in one mode: itself where it is affine, else linearised at (t, x) with the multipliers and the
  /// algebraic variables of the mode. Throws InvalidInput where it has no linearisation there.
  [[nodiscard]] Lcs in_mode(double t, const Vector& x, const Mode& mode) const;

 private:
  std::variant<Lcs, Dcs> kind_;
};

}  // namespace perp

#pragma once

#include <perp/models/language/multilinear/multilinear_form.hpp>

namespace perp {

/// How many signals of each kind there are, in the order of the rows of S: ẋ, x, u, y, z.
struct SignalCounts {
  int states = 0, inputs = 0, algebraic = 0, binaries = 0;
  [[nodiscard]] int rows() const { return 2 * states + inputs + algebraic + binaries; }
  [[nodiscard]] int equations() const { return states + algebraic; }
  [[nodiscard]] int first_input() const { return 2 * states; }
  [[nodiscard]] int first_algebraic() const { return 2 * states + inputs; }
  [[nodiscard]] int first_binary() const { return 2 * states + inputs + algebraic; }
};

SignalCounts signal_counts(const HybridModel& model);

/// A multilinear model near a point v, ξ = (x, y) and its binaries fixed there:
///     E dξ' = A dξ + B du − f(v),   dg = C dξ + D du + G dξ' + ..
/// E = [∂f/∂ẋ 0], A = −[∂f/∂x ∂f/∂y], B = −∂f/∂u, C = [∂g/∂x ∂g/∂y], D = ∂g/∂u.
struct MultilinearLinearization {
  Vector f, g;  ///< at v
  SparseEntries E, A, B, C, D;
  bool constraints_hold_rates = false;  ///< ∂g/∂ẋ is not 0
};

MultilinearLinearization linearized(const MultilinearForm& form, const SignalCounts& counts,
                                    const Vector& v);

}  // namespace perp

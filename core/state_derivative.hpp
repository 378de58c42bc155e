#pragma once

#include <span>
#include <vector>

#include <perp/core/base/types.hpp>
#include <perp/core/dcs.hpp>
#include <perp/core/expression/differentiate.hpp>

namespace perp {

/// Does one of these lines of a tape with the inputs of the system hold ẋ?
bool holds_derivative(const Tape& tape, std::span<const int> lines, const Dcs& system);

/// ẋ at a state, from the equations that hold it: 0 = F(t, ẋ, x, λ) by Newton's method on the rows
/// with derivatives, in least squares where they are more than the differential variables.
class StateDerivative {
 public:
  explicit StateDerivative(const Dcs& system);

  /// ẋ (n); NaN for algebraic variables, and everywhere where the equations do not determine it: a
  /// combination of derivatives alone (∂F/∂ẋ loses its rank), or Newton's method does not converge.
  [[nodiscard]] Vector operator()(double t, const Vector& x, const Vector& lambda) const;

 private:
  /// The rows that hold ẋ and their slopes, from the values of the lines.
  void read(const std::vector<double>& values, Vector& F, Matrix& J) const;

  Tape tape_;
  std::vector<double> parameters_;
  int n_, m_;
  std::vector<int> rows_;             // lines of F that hold ẋ
  std::vector<int> variables_;        // differential ones
  std::vector<Derivative> slopes_{};  // of rows_ with respect to ẋ
};

}  // namespace perp

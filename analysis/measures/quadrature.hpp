#pragma once

#include <functional>

namespace perp {

/// An integral.
struct Quadrature {
  double value = 0;
  double error = 0;      ///< by how much two rules differ, summed over the parts
  double magnitude = 0;  ///< the integral of |f|
  long parts = 0;        ///< into which the interval was cut

  /// Is the value known to 2^-24 of the magnitude? The noise of multipliers of long steps may leave as much.
  [[nodiscard]] bool is_resolved() const { return !(error > 0x1p-24 * magnitude); }
};

/// The integral of f over [a, b], to rounding where f has derivatives or a kink (Gauss and Kronrod, 7 and
/// 15 points; the part in which they differ most is halved): by 48 parts, in which noise ends and a kink is closed
/// in, and by `more` of them while it is not known to 2^-36 of its magnitude, or 2^-50 of another integral of |f| that it is
/// added to; noise, which more parts do not better, ends it before.
Quadrature integral(const std::function<double(double)>& f, double a, double b, long more = 0, double beside = 0);

/// The largest value of f in [a, b], NaN where a value is NaN: a sample, doubled until the values between its
/// nodes are those of the parabolas through them, and refined to rounding at its tops; not looked for closer where
/// the sample stays below `known` by more than its neighbours differ.
double largest(const std::function<double(double)>& f, double a, double b, double known);

}  // namespace perp

#pragma once

#include <utility>
#include <vector>

#include <perp/core/base/types.hpp>

namespace perp {

/// Polynomials on [0, 1] by their values at the d+1 Chebyshev points s_k = (1 − cos(π k/d))/2,
/// which include both ends, and by their coefficients in the Chebyshev polynomials of 2s − 1.
class Chebyshev {
 public:
  /// Throws InvalidInput for a degree < 2.
  explicit Chebyshev(int degree);

  [[nodiscard]] int degree() const { return degree_; }
  /// s_0 = 0, ..., s_d = 1.
  [[nodiscard]] const Vector& points() const { return points_; }

  /// Coefficients (d+1) of the polynomial through `values` at the points.
  void interpolate(const Vector& values, Vector& coefficients) const;
  [[nodiscard]] static double evaluate(const Vector& coefficients, double s);
  /// Coefficients of the derivative with respect to s (d of them).
  static void differentiate(const Vector& coefficients, Vector& derivative);
  /// Zeros in (0, 1) at which the polynomial changes its sign, increasing: sign changes on a grid
  /// of a few points per degree, each bisected to rounding.
  static void sign_changes(const Vector& coefficients, std::vector<double>& zeros);
  /// Neighbouring numbers from `low` to `high` between which `is_low` ends to hold.
  template <class IsLow>
  [[nodiscard]] static std::pair<double, double> bisect(double low, double high, const IsLow& is_low) {
    while (true) {
      const double middle = low + (high - low) / 2;
      if (middle <= low || middle >= high) return {low, high};
      (is_low(middle) ? low : high) = middle;
    }
  }

 private:
  int degree_;
  Vector points_;
  Matrix transform_;  // (d+1)×(d+1): values to coefficients
};

}  // namespace perp

#pragma once

#include <cmath>
#include <vector>

#include <perp/core/base/rational.hpp>
#include <perp/lcp/mlcp.hpp>

namespace perp {

/// What the polyhedral algorithms need to know of their scalar: when a number is zero, and how a
/// direction is scaled. They are written once, for `long double` (scaled problems, entries near 1)
/// and for `Rational` (no tolerance anywhere).
template <class Scalar>
struct Arithmetic;

template <>
struct Arithmetic<long double> {
  static constexpr bool exact = false;
  /// a - b, and 0 where nothing but rounding of the data (doubles) is left.
  static long double difference(long double a, long double b) {
    const long double value = a - b;
    return std::abs(value) <= 1e-13L * (std::abs(a) + std::abs(b)) ? 0 : value;
  }
  /// Is the value 0 beside terms of this size, by the tolerance of a rank decision?
  static bool no_pivot(long double value, long double size) {
    return std::abs(value) <= 1e-12L * size;
  }
  /// Is the value 0 beside terms of this size, by the tolerance of a solution?
  static bool vanishes(long double value, long double size) {
    return std::abs(value) <= static_cast<long double>(solution_tolerance) * size;
  }
  static long double size(long double value) { return std::abs(value); }
  /// Divides by the largest entry.
  static void normalise(std::vector<long double>& direction) {
    long double largest = 0;
    for (const long double value : direction) largest = std::max(largest, std::abs(value));
    if (largest == 0) return;
    for (long double& value : direction) {
      value /= largest;
      if (std::abs(value) < 1e-17L) value = 0;
    }
  }
};

template <>
struct Arithmetic<Rational> {
  static constexpr bool exact = true;
  static Rational difference(const Rational& a, const Rational& b) { return a - b; }
  static bool no_pivot(const Rational& value, const Rational&) { return value == 0; }
  static bool vanishes(const Rational& value, const Rational&) { return value == 0; }
  static Rational size(const Rational& value) { return abs(value); }
  /// Makes the entries integers without a common divisor.
  static void normalise(std::vector<Rational>& direction) { make_primitive(direction); }
};

}  // namespace perp

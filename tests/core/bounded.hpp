#pragma once

#include <cmath>
#include <limits>
#include <numbers>

#include <perp/core/tape/tape.hpp>

namespace perp::test {

/// A double with a first-order bound of its own error: every operation may add 4 units in the last
/// place and passes on the errors of its operands. `doubtful` where the bound is too large beside
/// the value for first order to mean anything, or where the error could change a choice.
struct Bounded {
  double value = 0;
  double error = 0;
  bool doubtful = false;

  Bounded(double v) : value(v) {}  // NOLINT: implicit on purpose
  Bounded(double v, double propagated, bool doubt) : value(v), doubtful(doubt) {
    constexpr double ulp = std::numeric_limits<double>::epsilon();
    error = propagated + 4 * ulp * std::abs(v) + std::numeric_limits<double>::denorm_min();
    doubtful = doubtful || !(propagated <= 1e-4 * std::abs(v));
  }
};

inline Bounded rounded(double v, double propagated, const Bounded& x) {
  return {v, propagated, x.doubtful};
}
inline Bounded rounded(double v, double propagated, const Bounded& x, const Bounded& y) {
  return {v, propagated, x.doubtful || y.doubtful};
}
/// f(x) with |f'| at x.
inline Bounded chain(const Bounded& x, double f, double slope) {
  return rounded(f, std::abs(slope) * x.error, x);
}

inline Bounded operator-(const Bounded& x) {
  Bounded result = x;
  result.value = -x.value;
  return result;
}
inline Bounded operator+(const Bounded& x, const Bounded& y) {
  return rounded(x.value + y.value, x.error + y.error, x, y);
}
inline Bounded operator-(const Bounded& x, const Bounded& y) { return x + -y; }
inline Bounded operator*(const Bounded& x, const Bounded& y) {
  return rounded(x.value * y.value,
                 std::abs(x.value) * y.error + std::abs(y.value) * x.error + x.error * y.error, x,
                 y);
}
inline Bounded operator/(const Bounded& x, const Bounded& y) {
  const double quotient = x.value / y.value;
  return rounded(quotient, (x.error + std::abs(quotient) * y.error) / std::abs(y.value), x, y);
}
inline bool operator<(const Bounded& x, const Bounded& y) { return x.value < y.value; }

inline Bounded sin(const Bounded& x) { return chain(x, std::sin(x.value), std::cos(x.value)); }
inline Bounded cos(const Bounded& x) { return chain(x, std::cos(x.value), std::sin(x.value)); }
inline Bounded tan(const Bounded& x) {
  const double f = std::tan(x.value);
  return chain(x, f, 1 + f * f);
}
inline Bounded asin(const Bounded& x) {
  return chain(x, std::asin(x.value), 1 / std::sqrt(1 - x.value * x.value));
}
inline Bounded acos(const Bounded& x) {
  return chain(x, std::acos(x.value), 1 / std::sqrt(1 - x.value * x.value));
}
inline Bounded atan(const Bounded& x) {
  return chain(x, std::atan(x.value), 1 / (1 + x.value * x.value));
}
inline Bounded sinh(const Bounded& x) { return chain(x, std::sinh(x.value), std::cosh(x.value)); }
inline Bounded cosh(const Bounded& x) { return chain(x, std::cosh(x.value), std::sinh(x.value)); }
inline Bounded tanh(const Bounded& x) {
  const double f = std::tanh(x.value);
  return chain(x, f, 1 - f * f);
}
inline Bounded exp(const Bounded& x) { return chain(x, std::exp(x.value), std::exp(x.value)); }
inline Bounded log(const Bounded& x) { return chain(x, std::log(x.value), 1 / x.value); }
inline Bounded log10(const Bounded& x) {
  return chain(x, std::log10(x.value), 1 / (x.value * std::log(10.0)));
}
inline Bounded sqrt(const Bounded& x) {
  return chain(x, std::sqrt(x.value), 0.5 / std::sqrt(x.value));
}
inline Bounded pow(const Bounded& x, const Bounded& y) {
  const double f = std::pow(x.value, y.value);
  double propagated = std::abs(y.value * std::pow(x.value, y.value - 1)) * x.error;
  if (y.error > 0) propagated += std::abs(f * std::log(std::abs(x.value))) * y.error;
  return rounded(f, propagated, x, y);
}
inline Bounded atan2(const Bounded& y, const Bounded& x) {
  const double square = x.value * x.value + y.value * y.value;
  return rounded(std::atan2(y.value, x.value),
                 (std::abs(x.value) * y.error + std::abs(y.value) * x.error) / square, x, y);
}

}  // namespace perp::test

/// Choices are doubtful where the errors could change them.
template <>
struct perp::ScalarTraits<perp::test::Bounded> {
  using Bounded = perp::test::Bounded;
  static Bounded pi() { return {std::numbers::pi, 0, false}; }
  static bool undecided(const Bounded& x, const Bounded& y) {
    return !(std::abs(x.value - y.value) > x.error + y.error) && !(x.error + y.error == 0);
  }
  static Bounded choose(bool first, const Bounded& x, const Bounded& y) {
    Bounded result = first ? x : y;
    result.doubtful = x.doubtful || y.doubtful || undecided(x, y);
    return result;
  }
  static Bounded abs(const Bounded& x) { return choose(x.value < 0, -x, x); }
  static Bounded min(const Bounded& x, const Bounded& y) {
    return choose(!(y.value < x.value || std::isnan(y.value)), x, y);
  }
  static Bounded max(const Bounded& x, const Bounded& y) {
    return choose(!(x.value < y.value || std::isnan(y.value)), x, y);
  }
  static Bounded guard(const Bounded& weight, const Bounded& x) { return weight.value == 0 ? Bounded(0.5) : x; }
  static Bounded sign(const Bounded& x) {
    Bounded result(x.value > 0 ? 1 : (x.value < 0 ? -1 : 0));
    result.doubtful = x.doubtful || undecided(x, 0.0);
    return result;
  }
};

#pragma once

#include <boost/multiprecision/cpp_bin_float.hpp>

#include <perp/core/expression/expression.hpp>

namespace perp::test {

/// A number of 50 decimal digits.
using Digits50 = boost::multiprecision::number<boost::multiprecision::cpp_bin_float<50>,
                                               boost::multiprecision::et_off>;

}  // namespace perp::test

namespace boost::multiprecision {

/// The library's own one does not end where the exponent is a NaN with a sign.
inline perp::test::Digits50 pow(const perp::test::Digits50& x, const perp::test::Digits50& y) {
  if (isnan(y)) return y;
  perp::test::Digits50 result;
  default_ops::eval_pow(result.backend(), x.backend(), y.backend());
  return result;
}

}  // namespace boost::multiprecision

template <>
struct perp::ScalarTraits<perp::test::Digits50> {
  using Digits50 = test::Digits50;

  static Digits50 pi() { return boost::math::constants::pi<Digits50>(); }
  static Digits50 abs(const Digits50& x) { return x < 0 ? Digits50(-x) : x; }
  static Digits50 min(const Digits50& x, const Digits50& y) {
    return y < x || boost::multiprecision::isnan(y) ? y : x;
  }
  static Digits50 max(const Digits50& x, const Digits50& y) {
    return x < y || boost::multiprecision::isnan(y) ? y : x;
  }
  static Digits50 sign(const Digits50& x) { return x > 0 ? 1 : (x < 0 ? -1 : 0 * x); }
  static Digits50 guard(const Digits50& weight, const Digits50& x) { return weight == 0 ? Digits50(0.5) : x; }
};

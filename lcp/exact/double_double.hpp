#pragma once

#include <cmath>

#include <perp/core/interval/directed.hpp>

namespace perp {

/// An unevaluated sum high + low of two doubles, |low| ≤ ulp(high)/2: about 106 bits. Nothing here
/// compares sizes of different quantities, so that powers of two pass through to the bit.
struct DoubleDouble {
  double high = 0;
  double low = 0;

  friend DoubleDouble operator-(const DoubleDouble& a) { return {-a.high, -a.low}; }
};

/// Bound of the relative error of one operation below, each term counted by its size.
inline constexpr double double_double_rounding = 0x1p-98;

/// a + b without any error.
inline DoubleDouble two_sum(double a, double b) {
  const double sum = a + b;
  return {sum, directed::sum_error(a, b, sum)};
}

/// a b without any error (short of underflow).
inline DoubleDouble two_product(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

inline DoubleDouble operator+(const DoubleDouble& a, const DoubleDouble& b) {
  const DoubleDouble high = two_sum(a.high, b.high), low = two_sum(a.low, b.low);
  const DoubleDouble sum = two_sum(high.high, high.low + low.high);
  return two_sum(sum.high, sum.low + low.low);
}

inline DoubleDouble operator-(const DoubleDouble& a, const DoubleDouble& b) { return a + -b; }

inline DoubleDouble operator*(const DoubleDouble& a, const DoubleDouble& b) {
  const DoubleDouble product = two_product(a.high, b.high);
  if (a.low == 0 && b.low == 0) return product;
  return two_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

inline DoubleDouble operator*(const DoubleDouble& a, double b) { return a * DoubleDouble{b, 0}; }

/// A sum of products whose roundings are added up in one double: a third of the work of `+` and `*` above. With t the terms'
/// sizes together, the sums of doubles so far are at most t and their n roundings u t each, as are those of the products and
/// what low parts add to them, u = 2^-53: adding these 4 n numbers loses at most 4 n (n + 3) u² t.
struct CompensatedSum {
  double high = 0, low = 0;

  void add(double a) {
    const DoubleDouble sum = two_sum(high, a);
    high = sum.high;
    low += sum.low;
  }
  void add(const DoubleDouble& a) {
    add(a.high);
    low += a.low;
  }
  void add_product(const DoubleDouble& a, const DoubleDouble& b) {
    const DoubleDouble product = two_product(a.high, b.high);
    add(product.high);
    low += product.low + (a.high * b.low + a.low * b.high);
  }
  [[nodiscard]] DoubleDouble value() const { return two_sum(high, low); }
};

/// Of a term of a sum of `count` terms, not less than what `CompensatedSum` loses beside its size.
constexpr double compensated_rounding(int count) { return double_double_rounding * (count < 60 ? 1 : count / 60.0); }

/// a / b of two doubles.
inline DoubleDouble quotient(double a, double b) {
  const double high = a / b;
  return two_sum(high, std::fma(-high, b, a) / b);
}

}  // namespace perp

#pragma once

#include <cmath>

#include <perp/core/interval/directed.hpp>
#include <perp/core/interval/interval.hpp>

namespace perp::enclosure {

/// A number as an unevaluated sum of two doubles (about 106 bits) with a bound of its own error:
///     |exact − (high + low)| ≤ error,    |low| ≤ u |high|,    u = 2^−53
/// Every operation adds its own rounding to the error, so that what a function claims needs a proof
/// of its formula and its truncation only. For numbers between 2^−300 and 2^300, and 0.
struct DoubleWord {
  double high = 0;
  double low = 0;
  double error = 0;

  constexpr DoubleWord() = default;
  constexpr explicit DoubleWord(double exact) : high(exact) {}
  constexpr DoubleWord(double h, double l, double e) : high(h), low(l), error(e) {}
};

namespace double_word {

/// Sums of errors make at most a dozen roundings, 2^−40 of the sum is more than they can lose; the
/// least addend is above all that underflow can take away.
inline double bound(double error) { return error * (1 + 0x1p-40) + 0x1p-900; }

/// high + low again as a pair, exactly (Dekker): |high| ≥ |low| or high = 0.
inline DoubleWord paired(double high, double low, double error) {
  const double sum = high + low;
  return {sum, low - (sum - high), error};
}

}  // namespace double_word

/// a + b of two doubles, exactly.
inline DoubleWord exact_sum(double a, double b) {
  const double s = a + b;
  return {s, directed::sum_error(a, b, s), 0};
}

inline DoubleWord operator-(const DoubleWord& a) { return {-a.high, -a.low, a.error}; }

/// Sums of the high and of the low parts are exact, s + s' and t + t'. For m = |a_h| + |b_h|
/// rounded are s' + t ≤ 2.1 u m, by 2.1 u² m, and t' + v' ≤ 1.1 u m, by 1.1 u² m: together at
/// most 3.2 u² m.
inline DoubleWord operator+(const DoubleWord& a, const DoubleWord& b) {
  const DoubleWord s = exact_sum(a.high, b.high), t = exact_sum(a.low, b.low);
  const DoubleWord v = exact_sum(s.high, s.low + t.high);
  const double size = std::abs(a.high) + std::abs(b.high);
  const double error = double_word::bound(a.error + b.error + 0x1p-103 * size);
  const DoubleWord result = exact_sum(v.high, t.low + v.low);
  return {result.high, result.low, error};
}
inline DoubleWord operator-(const DoubleWord& a, const DoubleWord& b) { return a + -b; }

/// In units of |a_h b_h|: the product p + e of the high parts is exact, |e| ≤ u; a_l b_l ≤ u²
/// rounds by u³, a_h b_l + … ≤ u (1 + u) by u², a_l b_h + … ≤ 2u (1 + u) by 2u², e + … ≤ 3u (1 + u)
/// by 3u²: together at most 6.1 u², below 8 u² |a b|.
inline DoubleWord operator*(const DoubleWord& a, const DoubleWord& b) {
  const double p = directed::product(a.high, b.high);
  const double low =
      std::fma(a.low, b.high, std::fma(a.high, b.low, directed::product(a.low, b.low)));
  const double passed = std::abs(a.high) * b.error + std::abs(b.high) * a.error + a.error * b.error;
  // |x| ≤ (1 + u) |x_h| in what is passed on
  const double error = double_word::bound(passed * (1 + 0x1p-50) + 0x1p-103 * std::abs(p));
  return double_word::paired(p, std::fma(a.high, b.high, -p) + low, error);
}
/// Exact: scaled by a power of two.
inline DoubleWord scaled(const DoubleWord& a, double power_of_two) {
  return {a.high * power_of_two, a.low * power_of_two, a.error * power_of_two};
}

/// q = fl(a_h / b_h). a_h − q b_h is a double ρ, |ρ| ≤ u |a_h|. In units of |a_h|: a_l − q b_l
/// ≤ 2.1 u rounds by 2.1 u², ρ + … ≤ 3.1 u by 3.1 u²; dividing by b_h for b changes it by 3.2 u²,
/// rounding the quotient 3.2 u²: together at most 12 u² |a/b|. Errors: |a/b − a'/b'| ≤ (e_a + |a/b|
/// e_b) / (|b| − e_b).
inline DoubleWord operator/(const DoubleWord& a, const DoubleWord& b) {
  const double q = a.high / b.high;
  const double rest = std::fma(-q, b.high, a.high) + std::fma(-q, b.low, a.low);
  const double size = std::abs(q), divisor = std::abs(b.high) * (1 - 0x1p-50) - b.error;
  const double passed = (a.error + size * (1 + 0x1p-50) * b.error) / divisor;
  const double error =
      divisor > 0 ? double_word::bound(passed + 0x1p-101 * size) : directed::infinity;
  return double_word::paired(q, rest / b.high, error);
}

/// s = fl(√a_h). a_h − s² is a double, ≤ 2.1 u s²; with a_l, ≤ 3.2 u s², it rounds by 3.2 u² s².
/// Then √(s² + δ) = s + δ/(2s) − …, what is left out ≤ δ²/(8 s³) ≤ 1.3 u² s, and the rounding of
/// the sum and of the quotient is 3.2 u² s: at most 5 u² s.  |√a − √a'| ≤ e / √a.
inline DoubleWord sqrt(const DoubleWord& a) {
  if (a.high == 0) return {0, 0, a.error == 0 ? 0 : directed::infinity};
  const double s = std::sqrt(a.high);
  const double rest = std::fma(-s, s, a.high) + a.low;
  const double error = double_word::bound(a.error / s * (1 + 0x1p-40) + 0x1p-101 * s);
  return double_word::paired(s, rest / (2 * s), error);
}

/// The same number, known less well.
inline DoubleWord widened(const DoubleWord& a, double further) {
  return {a.high, a.low, double_word::bound(a.error + further)};
}

/// The doubles around it.
inline Interval bounds(const DoubleWord& a) {
  return {directed::add_down(a.high, directed::subtract_down(a.low, a.error)),
          directed::add_up(a.high, directed::add_up(a.low, a.error))};
}

/// Those around a 2^k, also where that is subnormal or no double.
inline Interval bounds(const DoubleWord& a, int k) {
  const Interval plain = bounds(a);
  return {directed::scale_down(plain.lo, k), directed::scale_up(plain.hi, k)};
}

}  // namespace perp::enclosure

#pragma once

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <limits>

#if defined(__FAST_MATH__)
#error Directed rounding needs IEEE arithmetic: compile without -ffast-math.
#endif

/// Rounding down and up on round-to-nearest: the result of an operation is corrected by the sign of
/// its own error, which is a double and computed exactly. No rounding mode is ever touched, exact
/// operations stay exact. Rounding up is rounding down of the opposite: nearest is symmetric.
namespace perp::directed {

static_assert(FLT_EVAL_METHOD == 0);  // doubles are computed as doubles
static_assert(std::numeric_limits<double>::is_iec559);

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double largest = std::numeric_limits<double>::max();
/// From here on errors of products and quotients are doubles: every bit of ab is a multiple of
/// ulp(a) ulp(b) > |ab| 2^−106 ≥ 2^−1075, hence of 2^−1074.
inline constexpr double exact_from = 0x1p-969;
/// Up to here no operation of `add_down` overflows.
inline constexpr double sum_until = 0x1p1022;

/// The product as a rounded double: where the target has fused operations, a compiler that may
/// contract (-ffp-contract=fast) must not use a·b unrounded in one place and rounded in another.
inline double product(double a, double b) {
  double p = a * b;
#if defined(__GNUC__) && defined(__FMA__)
  asm("" : "+x"(p));
#elif defined(__GNUC__) && defined(__aarch64__)
  asm("" : "+w"(p));
#endif
  return p;
}

/// The next double above: positive doubles are in the order of their bits. Of the largest ∞, of ∞
/// ∞.
inline double next_up(double x) {
  if (x == infinity) return x;
  const auto bits = std::bit_cast<std::int64_t>(x + 0.0);  // −0 becomes 0
  return std::bit_cast<double>(bits >= 0 ? bits + 1 : bits - 1);
}
inline double next_down(double x) { return -next_up(-x); }

/// A lower bound where nothing is known but that `nearest` is the rounded result of finite numbers,
/// and perhaps that this is not negative.
inline double below_nearest(double nearest, bool not_negative = false) {
  if (nearest == infinity) return largest;
  return nearest == 0 && not_negative ? 0 : next_down(nearest);
}

/// The error of s = fl(a + b), exactly (Knuth): a + b = s + error. Also for subnormal numbers.
inline double sum_error(double a, double b, double s) {
  const double from_b = s - a;
  return (a - (s - from_b)) + (b - from_b);
}

/// ⌊a + b⌋. Of infinite numbers their sum (a lower bound is never ∞).
inline double add_down(double a, double b) {
  const double s = a + b;
  if (std::abs(s) < sum_until) return sum_error(a, b, s) >= 0 ? s : next_down(s);
  if (std::isinf(a) || std::isinf(b)) return s;
  return below_nearest(s);
}
inline double add_up(double a, double b) { return -add_down(-a, -b); }
inline double subtract_down(double a, double b) { return add_down(a, -b); }
inline double subtract_up(double a, double b) { return -add_down(-a, b); }

/// ⌊a b⌋, with 0 · ∞ = 0: an infinite end is the limit of finite numbers.
inline double multiply_down(double a, double b) {
  if (a == 0 || b == 0) return 0;
  const double p = product(a, b);
  const double size = std::abs(p);
  if (exact_from <= size && size <= largest) return std::fma(a, b, -p) >= 0 ? p : next_down(p);
  if (std::isinf(a) || std::isinf(b)) return p;
  return below_nearest(p, (a > 0) == (b > 0));
}
inline double multiply_up(double a, double b) { return -multiply_down(-a, b); }

/// ⌊a / b⌋ for b ≠ 0; a / ∞ = 0. The remainder a − q b is a double, as the error of a product is.
inline double divide_down(double a, double b) {
  if (a == 0 || std::isinf(b)) return 0;
  const double q = a / b;
  const double size = std::abs(q);
  if (std::abs(a) >= exact_from && exact_from <= size && size <= largest) {
    const double remainder = std::fma(-q, b, a);
    return (b > 0 ? remainder >= 0 : remainder <= 0) ? q : next_down(q);
  }
  if (std::isinf(a)) return q;
  return below_nearest(q, (a > 0) == (b > 0));
}
inline double divide_up(double a, double b) { return -divide_down(-a, b); }

/// ⌊√x⌋, ⌈√x⌉ for x ≥ 0; x − s² is a double, as the error of a product is.
inline double sqrt_down(double x) {
  const double s = std::sqrt(x);
  if (x == 0 || x == infinity) return s;
  if (x < exact_from) return next_down(s);
  return std::fma(-s, s, x) >= 0 ? s : next_down(s);
}
inline double sqrt_up(double x) {
  const double s = std::sqrt(x);
  if (x == 0 || x == infinity) return s;
  if (x < exact_from) return next_up(s);
  return std::fma(-s, s, x) <= 0 ? s : next_up(s);
}

/// ⌊x 2^k⌋, ⌈x 2^k⌉. A product by a power of two that is above the least normal number is exact. Elsewhere ldexp rounds to
/// nearest; scaled back it shows whether it rounded.
inline double scale_down(double x, int k) {
  if (-1022 <= k && k <= 1023) {
    const double exact = x * std::bit_cast<double>(static_cast<std::uint64_t>(k + 1023) << 52U);
    if (DBL_MIN < std::abs(exact) && std::abs(exact) <= largest) return exact;
  }
  const double scaled = std::ldexp(x, k);
  if (std::isinf(x) || std::ldexp(scaled, -k) == x) return scaled;
  return below_nearest(scaled);
}
inline double scale_up(double x, int k) { return -scale_down(-x, k); }

}  // namespace perp::directed

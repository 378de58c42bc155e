// Functions at points from double words: bounds of values whose own errors are proved.
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include <perp/core/interval/elementary.hpp>
#include <perp/core/interval/point_functions.hpp>
#include <perp/core/interval/quick.hpp>

namespace perp::enclosure::at_point {
namespace {

constexpr double unbounded = directed::infinity;

/// Below this |f(x) − x| < |x³| ≤ 2^−54 |x|, less than the distance of x to the next double, for
/// sin, tan, asin, atan, sinh, tanh; also where x is subnormal.
constexpr double nearly_identity = 0x1p-27;

/// Of f(x) for a small x, on the side of x where |f| lies.
Interval beside(double x, bool outside) {
  if (x == 0) return Interval(x);
  const double other = (x > 0) == outside ? directed::next_up(x) : directed::next_down(x);
  return hull(Interval(x), Interval(other));
}

Interval odd(Interval (*f)(double), double x) { return x < 0 ? -f(-x) : f(x); }

/// sin of (quadrant π/2 + rest)
DoubleWord sine(int quadrant, const DoubleWord& rest) {
  const DoubleWord y =
      quadrant % 2 == 0 ? elementary::sin_near_zero(rest) : elementary::cos_near_zero(rest);
  return quadrant >= 2 ? -y : y;
}

/// A number as an angle, reduced once for its sine and its quadrant.
class Angle {
 public:
  explicit Angle(double x) : x_(x), quick_(quick::quarter_turns(x)) {
    if (!quick_.is_known) exact_ = elementary::quarter_turns(x);
  }

  /// x ∈ [quadrant π/2, (quadrant + 1) π/2] modulo 2 π.
  [[nodiscard]] int quadrant() const {
    const int nearest = quick_.is_known ? quick_.quadrant : exact_.quadrant;
    const bool is_below = quick_.is_known ? quick_.is_negative : exact_.rest.high < 0;
    return is_below ? (nearest + 3) % 4 : nearest;
  }
  [[nodiscard]] Interval sin() const {
    if (std::abs(x_) < nearly_identity) return beside(x_, false);
    return clipped(quick_.is_known ? quick::sine(quick_) : sine(exact_.quadrant, exact_.rest));
  }
  [[nodiscard]] Interval cos() const {
    if (x_ == 0) return Interval(1);
    if (std::abs(x_) < nearly_identity)
      return {directed::next_down(1), 1};  // 1 − cos x ≤ x²/2 < 2^−54
    return clipped(quick_.is_known ? quick::cosine(quick_)
                                   : sine((exact_.quadrant + 1) % 4, exact_.rest));
  }

 private:
  static Interval clipped(const DoubleWord& y) {
    const Interval value = bounds(y);
    return {std::max(value.lo, -1.0), std::min(value.hi, 1.0)};
  }

  double x_;
  quick::Turns quick_;
  elementary::QuarterTurns exact_{};
};

/// √((1 − x)(1 + x))
DoubleWord complement(double x) { return sqrt(exact_sum(1, -x) * exact_sum(1, x)); }

Interval asin_positive(double x) {
  if (x < nearly_identity) return beside(x, true);
  if (x == 1) return bounds(elementary::half_pi());
  return bounds(elementary::angle(DoubleWord(x), complement(x)));
}
Interval atan_positive(double x) {
  if (x < nearly_identity) return beside(x, false);
  if (x > 0x1p+60) return bounds(widened(elementary::half_pi(), 0x1p-60));  // π/2 − atan x < 1/x
  return bounds(elementary::angle(DoubleWord(x), DoubleWord(1)));
}
/// e^x / 2 ± e^−x / 2 for x > 40, where the second summand is below 2^−115 of the first.
Interval half_exp(double x) {
  if (x > 711) return {directed::largest, unbounded};
  const elementary::Scaled y = elementary::exp(DoubleWord(x));
  return bounds(widened(y.mantissa, 0x1p-115 * y.mantissa.high), y.exponent - 1);
}

/// e^x for 0 ≤ x ≤ 40
DoubleWord moderate_exp(double x) {
  const elementary::Scaled y = elementary::exp(DoubleWord(x));
  return scaled(y.mantissa, std::ldexp(1.0, y.exponent));
}

DoubleWord cosh_moderate(double x) {
  const DoubleWord e = moderate_exp(x);
  return scaled(e + DoubleWord(1) / e, 0.5);
}

DoubleWord sinh_moderate(double x) {
  if (x < 0.375) return elementary::sinh_near_zero(DoubleWord(x));
  const DoubleWord e = moderate_exp(x);
  return scaled(e - DoubleWord(1) / e, 0.5);
}

Interval sinh_positive(double x) {
  if (x < nearly_identity) return beside(x, true);
  return x > 40 ? half_exp(x) : bounds(sinh_moderate(x));
}
Interval tanh_positive(double x) {
  if (x < nearly_identity) return beside(x, false);
  if (x > 40) return {directed::next_down(1), 1};  // 1 − tanh x < 2 e^−2x
  const Interval y = bounds(sinh_moderate(x) / cosh_moderate(x));
  return {y.lo, std::min(y.hi, 1.0)};
}
/// The angle of (x, y) for x, y ≥ 0, not both 0.
Interval first_quadrant(double y, double x) {
  if (y == 0) return Interval(0);
  if (x == 0) return bounds(elementary::half_pi());
  int ey = 0, ex = 0;
  const double my = std::frexp(y, &ey), mx = std::frexp(x, &ex);
  if (ey - ex > 60) return bounds(widened(elementary::half_pi(), 0x1p-59));  // x/y < 2^−59
  if (ey - ex < -58) {  // q − q³ ≤ atan q ≤ q, q³ < 2^−112 q
    const Interval q = Interval(y) / Interval(x);
    return {std::max(0.0, directed::next_down(q.lo)), q.hi};
  }
  return bounds(elementary::angle(DoubleWord(std::ldexp(my, ey - ex)), DoubleWord(mx)));
}

/// x^y for 0 < x < ∞ from e^(y log x).
Interval general_power(double x, double y) {
  if (x == 1 || y == 0) return Interval(1);
  const DoubleWord log = elementary::log(x);
  const double estimate = y * log.high;  // right to 2^−50 of itself, or infinite
  if (estimate > 1000) return {directed::largest, unbounded};
  if (estimate < -1000) return {0, directed::next_up(0)};
  if (std::abs(estimate) < 0x1p-60) return {directed::next_down(1), directed::next_up(1)};
  const elementary::Scaled power = elementary::exp(DoubleWord(y) * log);
  const Interval value = bounds(power.mantissa, power.exponent);
  return {std::max(value.lo, 0.0), value.hi};
}

/// x^n for x > 0, 1 ≤ n ≤ 64:  x = m 2^e with 1/2 ≤ m < 1, m^n 2^(e n). Products rounded outward
/// are exact where the power is.
Interval short_power(double x, int n) {
  int e = 0;
  const DoubleWord m(std::frexp(x, &e));
  DoubleWord power(1);
  Interval product(1);
  for (int k = 0; k < n; ++k) {
    power = power * m;
    product *= Interval(x);
  }
  const Interval value = bounds(power, e * n);
  return {std::max(value.lo, product.lo), std::min(value.hi, product.hi)};
}

}  // namespace

Interval exp(double x) {
  if (x == 0) return Interval(1);
  if (std::abs(x) < 0x1p-54)
    return x > 0 ? Interval(1, directed::next_up(1)) : Interval(directed::next_down(1), 1);
  if (x > 710) return {directed::largest, unbounded};
  if (x < -746) return {0, directed::next_up(0)};  // e^−746 < 2^−1076
  if (std::abs(x) <= 700) {  // normal numbers, which a power of two scales exactly
    const elementary::Scaled y = quick::exp(x);
    const Interval mantissa = bounds(y.mantissa);
    const auto power = std::bit_cast<double>(static_cast<std::uint64_t>(y.exponent + 1023) << 52U);
    return {mantissa.lo * power, mantissa.hi * power};
  }
  const elementary::Scaled y = elementary::exp(DoubleWord(x));
  return bounds(y.mantissa, y.exponent);
}

Interval log(double x) { return x == 1 ? Interval(0) : bounds(elementary::log(x)); }

Interval log10(double x) {
  double power = 1;
  for (int k = 0; k <= 22; ++k, power *= 10)  // 10^22 is the last one that is a double
    if (x == power) return Interval(k);
  return bounds(elementary::log(x) / elementary::ln10());
}

Turned sin(double x) {
  const Angle angle(x);
  return {angle.sin(), angle.quadrant()};
}
Turned cos(double x) {
  const Angle angle(x);
  return {angle.cos(), angle.quadrant()};
}

Interval tan(double x) {
  if (std::abs(x) < nearly_identity) return beside(x, true);
  const elementary::QuarterTurns turns = elementary::quarter_turns(x);
  return bounds(sine(turns.quadrant, turns.rest) / sine((turns.quadrant + 1) % 4, turns.rest));
}

Interval asin(double x) { return odd(asin_positive, x); }

Interval acos(double x) {
  const DoubleWord right = elementary::half_pi();
  if (x == 1) return Interval(0);
  if (x == -1) return bounds(scaled(right, 2));
  // |acos x − π/2| = |asin x| ≤ 2 |x|
  if (std::abs(x) < 0x1p-60) return bounds(widened(right, 0x1p-59));
  const DoubleWord sharp = elementary::angle(complement(x), DoubleWord(std::abs(x)));
  return bounds(x > 0 ? sharp : scaled(right, 2) - sharp);
}

Interval atan(double x) { return odd(atan_positive, x); }

Interval sinh(double x) { return odd(sinh_positive, x); }

Interval cosh(double x) {
  const double size = std::abs(x);
  if (size == 0) return Interval(1);
  if (size < nearly_identity) return {1, directed::next_up(1)};  // x²/2 (1 + …) < 2^−54
  return size > 40 ? half_exp(size) : bounds(cosh_moderate(size));
}

Interval tanh(double x) { return odd(tanh_positive, x); }

Interval atan2(double y, double x) {
  if (y < 0) return -atan2(-y, x);
  if (x >= 0) return first_quadrant(y, x);
  const DoubleWord right = elementary::half_pi();
  return bounds(scaled(right, 2)) - first_quadrant(y, -x);
}

// x^y = 1/x^−y where that is normal; its reciprocal would be infinite elsewhere.
Interval pow(double x, double y) {
  if (y != std::floor(y) || std::abs(y) > 64 || y == 0) return general_power(x, y);
  const Interval power = short_power(x, static_cast<int>(std::abs(y)));
  if (y > 0) return power;
  return power.lo > 0x1p-900 && power.hi < 0x1p+900 ? Interval(1) / power : general_power(x, y);
}

}  // namespace perp::enclosure::at_point

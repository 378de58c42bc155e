// Functions of intervals: bounds at points, from double words, and where a set takes its extremes.
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include <perp/core/interval/elementary.hpp>
#include <perp/core/interval/interval.hpp>
#include <perp/core/interval/quick.hpp>

namespace perp::enclosure {
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

// Each encloses f(x) for a double x of its domain.

Interval exp_at(double x) {
  if (x == 0) return Interval(1);
  if (std::abs(x) < 0x1p-54)
    return x > 0 ? Interval(1, directed::next_up(1)) : Interval(directed::next_down(1), 1);
  if (x > 710) return {directed::largest, unbounded};
  if (x < -746) return {0, directed::next_up(0)};  // e^−746 < 2^−1076
  if (std::abs(x) <= 700) {  // normal numbers, which a power of two scales exactly
    const elementary::Scaled y = quick::exp(x);
    const Interval mantissa = bounds(y.mantissa);
    const auto power =
        std::bit_cast<double>(static_cast<std::uint64_t>(y.exponent + 1023) << 52U);
    return {mantissa.lo * power, mantissa.hi * power};
  }
  const elementary::Scaled y = elementary::exp(DoubleWord(x));
  return bounds(y.mantissa, y.exponent);
}

Interval log_at(double x) { return x == 1 ? Interval(0) : bounds(elementary::log(x)); }

Interval log10_at(double x) {
  double power = 1;
  for (int k = 0; k <= 22; ++k, power *= 10)  // 10^22 is the last one that is a double
    if (x == power) return Interval(k);
  return bounds(elementary::log(x) / elementary::ln10());
}

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

Interval tan_at(double x) {
  if (std::abs(x) < nearly_identity) return beside(x, true);
  const elementary::QuarterTurns turns = elementary::quarter_turns(x);
  return bounds(sine(turns.quadrant, turns.rest) / sine((turns.quadrant + 1) % 4, turns.rest));
}

/// √((1 − x)(1 + x))
DoubleWord complement(double x) { return sqrt(exact_sum(1, -x) * exact_sum(1, x)); }

Interval asin_positive(double x) {
  if (x < nearly_identity) return beside(x, true);
  if (x == 1) return bounds(elementary::half_pi());
  return bounds(elementary::angle(DoubleWord(x), complement(x)));
}
Interval asin_at(double x) { return odd(asin_positive, x); }

Interval acos_at(double x) {
  const DoubleWord right = elementary::half_pi();
  if (x == 1) return Interval(0);
  if (x == -1) return bounds(scaled(right, 2));
  // |acos x − π/2| = |asin x| ≤ 2 |x|
  if (std::abs(x) < 0x1p-60) return bounds(widened(right, 0x1p-59));
  const DoubleWord sharp = elementary::angle(complement(x), DoubleWord(std::abs(x)));
  return bounds(x > 0 ? sharp : scaled(right, 2) - sharp);
}

Interval atan_positive(double x) {
  if (x < nearly_identity) return beside(x, false);
  if (x > 0x1p+60) return bounds(widened(elementary::half_pi(), 0x1p-60));  // π/2 − atan x < 1/x
  return bounds(elementary::angle(DoubleWord(x), DoubleWord(1)));
}
Interval atan_at(double x) { return odd(atan_positive, x); }

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
Interval sinh_at(double x) { return odd(sinh_positive, x); }

Interval cosh_at(double x) {
  const double size = std::abs(x);
  if (size == 0) return Interval(1);
  if (size < nearly_identity) return {1, directed::next_up(1)};  // x²/2 (1 + …) < 2^−54
  return size > 40 ? half_exp(size) : bounds(cosh_moderate(size));
}

Interval tanh_positive(double x) {
  if (x < nearly_identity) return beside(x, false);
  if (x > 40) return {directed::next_down(1), 1};  // 1 − tanh x < 2 e^−2x
  const Interval y = bounds(sinh_moderate(x) / cosh_moderate(x));
  return {y.lo, std::min(y.hi, 1.0)};
}
Interval tanh_at(double x) { return odd(tanh_positive, x); }

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

/// Not on the cut y = 0, x ≤ 0.
Interval angle_at(double y, double x) {
  if (y < 0) return -angle_at(-y, x);
  if (x >= 0) return first_quadrant(y, x);
  const DoubleWord right = elementary::half_pi();
  return bounds(scaled(right, 2)) - first_quadrant(y, -x);
}

// Powers.

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

bool is_whole(double y) { return y == std::floor(y); }  // from 2^53 on all doubles are

/// x^y for x > 0 or, at 0, y > 0.
Interval power_at(double x, double y) {
  if (x == 0) return Interval(0);
  if (x == unbounded)
    return y > 0 ? Interval(directed::largest, unbounded) : Interval(0, directed::next_up(0));
  if (!is_whole(y) || std::abs(y) > 64 || y == 0) return general_power(x, y);
  const Interval power = short_power(x, static_cast<int>(std::abs(y)));
  if (y > 0) return power;
  // 1/power where that is normal; its reciprocal would be infinite elsewhere
  return power.lo > 0x1p-900 && power.hi < 0x1p+900 ? Interval(1) / power : general_power(x, y);
}

/// Hull of x^y over the corners: for x > 0 the power is monotone in x and in y.
Interval power_of_positive(const Interval& x, const Interval& y) {
  return hull(hull(power_at(x.lo, y.lo), power_at(x.lo, y.hi)),
              hull(power_at(x.hi, y.lo), power_at(x.hi, y.hi)));
}

/// x^n for a whole n ≠ 0 and x that holds numbers ≤ 0.
Interval whole_power(const Interval& x, double n) {
  if (n < 0 && x.contains(0.0)) return Interval::none();
  const bool even = is_whole(n / 2);
  const Interval size(mignitude(x), magnitude(x));
  const Interval power = power_of_positive(size, Interval(n));
  if (even) return power;
  if (x.hi <= 0) return -power;
  return hull(-power_of_positive(Interval(0, -x.lo), Interval(n)),
              power_of_positive(Interval(0, x.hi), Interval(n)));
}

// Sets.

/// f is increasing on the set; `least` and `most` are its limits at −∞ and ∞.
Interval increasing(Interval (*f)(double), const Interval& a, double least, double most) {
  if (!a.has_value()) return a;
  if (a.is_point()) return f(a.lo);
  return {std::isinf(a.lo) ? least : f(a.lo).lo, std::isinf(a.hi) ? most : f(a.hi).hi};
}

/// Quarter turns (multiples of π/2) that [a.lo, a.hi] passes: numbers modulo 4 of the first and how
/// many; 4 or more where that is not known.
struct Passed {
  int first = 0;
  int count = 4;
  [[nodiscard]] bool holds(int quarter) const { return (quarter - first + 4) % 4 < count; }
};

Passed passed_quarters(const Interval& a, const Angle& first, const Angle& last) {
  const double length = width(a);
  if (!(length < 6.25)) return {};  // < 2 π: fewer than 4 can be passed, or the same quadrant again
  const int from = first.quadrant(), to = last.quadrant();
  if (from == to && length > 2) return {};
  return {(from + 1) % 4, (to - from + 4) % 4};
}

/// sin(a + shift π/2)
Interval sine_of_set(Interval (Angle::*f)() const, const Interval& a, int shift) {
  if (!a.has_value()) return a;
  if (!a.is_bounded()) return {-1, 1};
  const Angle first(a.lo);
  if (a.is_point()) return (first.*f)();
  const Angle last(a.hi);
  const Interval at_first = (first.*f)(), at_last = (last.*f)();
  const Passed passed = passed_quarters(a, first, last);
  const bool top = passed.holds((1 - shift + 4) % 4), bottom = passed.holds((3 - shift + 4) % 4);
  return {bottom ? -1 : std::min(at_first.lo, at_last.lo),
          top ? 1 : std::max(at_first.hi, at_last.hi)};
}

bool within_one(const Interval& a) { return a.lo >= -1 && a.hi <= 1; }

}  // namespace

Interval exp(const Interval& a) { return increasing(exp_at, a, 0, unbounded); }

Interval log(const Interval& a) {
  return a.lo > 0 ? increasing(log_at, a, -unbounded, unbounded) : Interval::none();
}
Interval log10(const Interval& a) {
  return a.lo > 0 ? increasing(log10_at, a, -unbounded, unbounded) : Interval::none();
}

Interval sin(const Interval& a) { return sine_of_set(&Angle::sin, a, 0); }
Interval cos(const Interval& a) { return sine_of_set(&Angle::cos, a, 1); }

Interval tan(const Interval& a) {
  if (!a.has_value() || !a.is_bounded()) return Interval::none();
  if (!a.is_point()) {
    const Passed passed = passed_quarters(a, Angle(a.lo), Angle(a.hi));
    if (passed.holds(1) || passed.holds(3)) return Interval::none();
  }
  return increasing(tan_at, a, 0, 0);
}

Interval asin(const Interval& a) {
  return within_one(a) ? increasing(asin_at, a, 0, 0) : Interval::none();
}
Interval acos(const Interval& a) {
  return within_one(a) ? Interval(acos_at(a.hi).lo, acos_at(a.lo).hi) : Interval::none();
}
Interval atan(const Interval& a) {
  const Interval right = bounds(elementary::half_pi());
  return increasing(atan_at, a, -right.hi, right.hi);
}
Interval sinh(const Interval& a) { return increasing(sinh_at, a, -unbounded, unbounded); }
Interval cosh(const Interval& a) {
  if (!a.has_value()) return a;
  return {cosh_at(mignitude(a)).lo, a.is_bounded() ? cosh_at(magnitude(a)).hi : unbounded};
}
Interval tanh(const Interval& a) { return increasing(tanh_at, a, -1, 1); }

// A box that meets neither the origin nor the cut is seen from the origin under the angles of its
// corners.
Interval atan2(const Interval& y, const Interval& x) {
  if (!x.is_bounded() || !y.is_bounded()) return Interval::none();
  if (y.contains(0.0) && x.lo <= 0) return Interval::none();
  return hull(hull(angle_at(y.lo, x.lo), angle_at(y.lo, x.hi)),
              hull(angle_at(y.hi, x.lo), angle_at(y.hi, x.hi)));
}

Interval pow(const Interval& x, const Interval& y) {
  if (!x.has_value() || !y.is_bounded()) return Interval::none();
  if (y.is_point()) {
    if (y.lo == 0) return Interval(1);
    if (y.lo == 1) return x;
    if (y.lo == 2) return square(x);
    if (y.lo == 0.5) return sqrt(x);
    if (y.lo == -1) return Interval(1) / x;
    if (x.lo <= 0 && is_whole(y.lo)) return whole_power(x, y.lo);
  }
  if (x.lo > 0 || (x.lo == 0 && y.lo > 0)) return power_of_positive(x, y);
  return Interval::none();
}

}  // namespace perp::enclosure

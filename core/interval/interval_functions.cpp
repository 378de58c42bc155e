// Functions of intervals: where a set takes its extremes, from bounds at points.
#include <algorithm>
#include <cmath>

#include <perp/core/interval/elementary.hpp>
#include <perp/core/interval/interval.hpp>
#include <perp/core/interval/point_functions.hpp>

namespace perp::enclosure {
namespace {

constexpr double unbounded = directed::infinity;

bool is_whole(double y) { return y == std::floor(y); }  // from 2^53 on all doubles are

/// x^y for x > 0 or, at 0, y > 0.
Interval power_at(double x, double y) {
  if (x == 0) return Interval(0);
  if (x == unbounded)
    return y > 0 ? Interval(directed::largest, unbounded) : Interval(0, directed::next_up(0));
  return at_point::pow(x, y);
}

/// Hull of x^y over y, for x > 0 or, at 0, y > 0.
Interval powers_at(double x, const Interval& y) {
  return y.is_point() ? power_at(x, y.lo) : hull(power_at(x, y.lo), power_at(x, y.hi));
}

/// Hull of x^y over the corners, each of them once: for x > 0 the power is monotone in x and in y.
Interval power_of_positive(const Interval& x, const Interval& y) {
  return x.is_point() ? powers_at(x.lo, y) : hull(powers_at(x.lo, y), powers_at(x.hi, y));
}

/// x^n for a whole n ≠ 0 and x that holds numbers ≤ 0.
Interval whole_power(const Interval& x, double n) {
  if (n < 0 && x.contains(0.0)) return Interval::none();
  const bool is_even = is_whole(n / 2);
  // x < 0 < x': an odd power has the sign of its base
  if (!is_even && x.hi > 0) return hull(-power_at(-x.lo, n), power_at(x.hi, n));
  const Interval power = power_of_positive(Interval(mignitude(x), magnitude(x)), Interval(n));
  return is_even ? power : -power;
}

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

/// Of a set whose ends lie in these quadrants.
Passed passed_quarters(const Interval& a, int from, int to) {
  const double length = width(a);
  if (!(length < 6.25)) return {};  // < 2 π: fewer than 4 can be passed, or the same quadrant again
  if (from == to && length > 2) return {};
  return {(from + 1) % 4, (to - from + 4) % 4};
}

/// sin(a + shift π/2)
Interval sine_of_set(at_point::Turned (*f)(double), const Interval& a, int shift) {
  if (!a.has_value()) return a;
  if (!a.is_bounded()) return {-1, 1};
  const at_point::Turned first = f(a.lo);
  if (a.is_point()) return first.value;
  const at_point::Turned last = f(a.hi);
  const Passed passed = passed_quarters(a, first.quadrant, last.quadrant);
  const bool top = passed.holds((1 - shift + 4) % 4), bottom = passed.holds((3 - shift + 4) % 4);
  return {bottom ? -1 : std::min(first.value.lo, last.value.lo),
          top ? 1 : std::max(first.value.hi, last.value.hi)};
}

/// x^y where it is another function of x.
std::optional<Interval> power_by_function(const Interval& x, double y) {
  if (y == 0) return Interval(1);
  if (y == 1) return x;
  if (y == 2) return square(x);
  if (y == 0.5) return sqrt(x);
  if (y == -1) return Interval(1) / x;
  return std::nullopt;
}

/// x > 0, or 0^y = 0.
bool are_positive(const Interval& x, const Interval& y) { return x.lo > 0 || (x.lo == 0 && y.lo > 0); }

bool within_one(const Interval& a) { return a.lo >= -1 && a.hi <= 1; }

}  // namespace

Interval exp(const Interval& a) { return increasing(at_point::exp, a, 0, unbounded); }

Interval log(const Interval& a) {
  return a.lo > 0 ? increasing(at_point::log, a, -unbounded, unbounded) : Interval::none();
}
Interval log10(const Interval& a) {
  return a.lo > 0 ? increasing(at_point::log10, a, -unbounded, unbounded) : Interval::none();
}

Interval sin(const Interval& a) { return sine_of_set(at_point::sin, a, 0); }
Interval cos(const Interval& a) { return sine_of_set(at_point::cos, a, 1); }

Interval tan(const Interval& a) {
  if (!a.has_value() || !a.is_bounded()) return Interval::none();
  if (!a.is_point()) {
    const Passed passed =
        passed_quarters(a, at_point::sin(a.lo).quadrant, at_point::sin(a.hi).quadrant);
    if (passed.holds(1) || passed.holds(3)) return Interval::none();
  }
  return increasing(at_point::tan, a, 0, 0);
}

Interval asin(const Interval& a) {
  return within_one(a) ? increasing(at_point::asin, a, 0, 0) : Interval::none();
}
Interval acos(const Interval& a) {
  return within_one(a) ? Interval(at_point::acos(a.hi).lo, at_point::acos(a.lo).hi)
                       : Interval::none();
}
Interval atan(const Interval& a) {
  const Interval right = bounds(elementary::half_pi());
  return increasing(at_point::atan, a, -right.hi, right.hi);
}
Interval sinh(const Interval& a) { return increasing(at_point::sinh, a, -unbounded, unbounded); }
Interval cosh(const Interval& a) {
  if (!a.has_value()) return a;
  return {at_point::cosh(mignitude(a)).lo,
          a.is_bounded() ? at_point::cosh(magnitude(a)).hi : unbounded};
}
Interval tanh(const Interval& a) { return increasing(at_point::tanh, a, -1, 1); }

// A box that meets neither the origin nor the cut is seen from the origin under the angles of its
// corners.
Interval atan2(const Interval& y, const Interval& x) {
  if (!x.is_bounded() || !y.is_bounded()) return Interval::none();
  if (y.contains(0.0) && x.lo <= 0) return Interval::none();
  return hull(hull(at_point::atan2(y.lo, x.lo), at_point::atan2(y.lo, x.hi)),
              hull(at_point::atan2(y.hi, x.lo), at_point::atan2(y.hi, x.hi)));
}

Interval pow(const Interval& x, const Interval& y) {
  if (!x.has_value() || !y.is_bounded()) return Interval::none();
  if (y.is_point()) {
    if (const auto found = power_by_function(x, y.lo)) return *found;
    if (x.lo <= 0 && is_whole(y.lo)) return whole_power(x, y.lo);
  }
  return are_positive(x, y) ? power_of_positive(x, y) : Interval::none();
}

}  // namespace perp::enclosure

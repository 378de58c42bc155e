#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include <perp/core/interval/directed.hpp>
#include <perp/core/interval/ends.hpp>
#include <perp/core/tape/tape.hpp>

namespace perp {
namespace enclosure {

/// The set of real numbers [lo, hi], lo ≤ hi; lo may be −∞ and hi ∞, which stand for no bound.
/// Arithmetic and functions contain every result of every member of their operands, rounded
/// outward, and hold the promise that there is one: where a member has none (a divisor 0, log of 0,
/// a pole) the result is `none`, and so is everything that is made of it. Nothing is clipped to a
/// domain. Intervals have no order: ask `certainly_less`, `possibly_less`.
struct Interval {
  double lo = 0;  ///< lower bound
  double hi = 0;  ///< upper bound

  constexpr Interval() = default;
  /// A point; none where x is not finite.
  constexpr explicit Interval(double x) : Interval(x, x) {}
  /// None where the bounds are no set of numbers.
  constexpr Interval(double lower, double upper) : lo(lower), hi(upper) {
    constexpr double unbounded = std::numeric_limits<double>::infinity();
    if (!(lo <= hi) || lo == unbounded || hi == -unbounded)
      lo = hi = std::numeric_limits<double>::quiet_NaN();
  }

  /// No value is proved to exist.
  static constexpr Interval none() { return Interval(std::numeric_limits<double>::quiet_NaN()); }

  [[nodiscard]] constexpr bool has_value() const { return lo <= hi; }
  [[nodiscard]] bool is_bounded() const { return std::isfinite(lo) && std::isfinite(hi); }
  [[nodiscard]] constexpr bool is_point() const { return lo == hi; }
  [[nodiscard]] constexpr bool is_zero() const { return lo == 0 && hi == 0; }
  [[nodiscard]] constexpr bool contains(double x) const { return lo <= x && x <= hi; }
  [[nodiscard]] constexpr bool contains(const Interval& x) const {
    return lo <= x.lo && x.hi <= hi;
  }

  friend constexpr bool operator==(const Interval&, const Interval&) = default;
};

/// Every member of a is below every member of b; some member may be.
///@{
inline bool certainly_less(const Interval& a, const Interval& b) { return a.hi < b.lo; }
inline bool possibly_less(const Interval& a, const Interval& b) { return a.lo < b.hi; }
///@}

/// 1, −1: every member has this sign. 0: all are 0, or they differ, or there is none.
inline int certain_sign(const Interval& a) { return a.lo > 0 ? 1 : (a.hi < 0 ? -1 : 0); }

/// a lies in b without touching its ends.
inline bool is_inside(const Interval& a, const Interval& b) { return b.lo < a.lo && a.hi < b.hi; }

/// Largest and smallest |x|.
///@{
inline double magnitude(const Interval& a) { return std::max(std::abs(a.lo), std::abs(a.hi)); }
inline double mignitude(const Interval& a) {
  return a.contains(0.0) ? 0 : std::min(std::abs(a.lo), std::abs(a.hi));
}
///@}
/// hi − lo, rounded up.
inline double width(const Interval& a) { return directed::subtract_up(a.hi, a.lo); }
/// A double inside, near the middle; of an unbounded interval one of its members.
inline double middle(const Interval& a) {
  const double lo = std::max(a.lo, -directed::largest), hi = std::min(a.hi, directed::largest);
  return std::clamp(lo / 2 + hi / 2, lo, hi);
}
/// The largest distance to `middle`, rounded up.
inline double radius(const Interval& a) {
  const double m = middle(a);
  return std::max(directed::subtract_up(a.hi, m), directed::subtract_up(m, a.lo));
}
/// The smallest interval that contains both.
inline Interval hull(const Interval& a, const Interval& b) {
  if (!a.has_value() || !b.has_value()) return Interval::none();
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}
/// Members of both. Two enclosures of one non-empty set meet: an empty result is an alarm.
inline std::optional<Interval> intersection(const Interval& a, const Interval& b) {
  const Interval both(std::max(a.lo, b.lo), std::min(a.hi, b.hi));
  if (!a.has_value() || !b.has_value() || !both.has_value()) return std::nullopt;
  return both;
}
/// [−r, r] for r ≥ 0.
inline Interval symmetric(double r) { return {-r, r}; }

inline Interval operator-(const Interval& a) { return {-a.hi, -a.lo}; }

/// What operators are where numbers are small, large or infinite: by their ends.
namespace by_ends {

inline Interval sum(const Interval& a, const Interval& b) {
  if (!a.has_value() || !b.has_value()) return Interval::none();
  return {directed::add_down(a.lo, b.lo), directed::add_up(a.hi, b.hi)};
}

/// a b for a ≥ 0.
inline Interval product_by_positive(const Interval& a, const Interval& b) {
  return {directed::multiply_down(b.lo >= 0 ? a.lo : a.hi, b.lo),
          directed::multiply_up(b.hi >= 0 ? a.hi : a.lo, b.hi)};
}

/// Bounds are products of ends, which ones the signs tell; only two sets that both hold numbers of
/// both signs need four.
inline Interval product(const Interval& a, const Interval& b) {
  using directed::multiply_down, directed::multiply_up;
  if (!a.has_value() || !b.has_value()) return Interval::none();
  if (a.lo >= 0) return product_by_positive(a, b);
  if (a.hi <= 0) return -product_by_positive(-a, b);
  if (b.lo >= 0) return {multiply_down(a.lo, b.hi), multiply_up(a.hi, b.hi)};
  if (b.hi <= 0) return {multiply_down(a.hi, b.lo), multiply_up(a.lo, b.lo)};
  return {std::min(multiply_down(a.lo, b.hi), multiply_down(a.hi, b.lo)),
          std::max(multiply_up(a.lo, b.lo), multiply_up(a.hi, b.hi))};
}

}  // namespace by_ends

[[gnu::always_inline]] inline Interval operator+(const Interval& a, const Interval& b) {
  const Ends x(a), y(b), s = x + y;
  if (!lie_below(abs(s), directed::sum_until)) [[unlikely]]
    return by_ends::sum(a, b);
  return outward(s, sum_errors(x, y, s)).as<Interval>();
}

inline Interval operator-(const Interval& a, const Interval& b) { return a + -b; }

/// Without branches on signs, which no processor foresees. Let a hold numbers of one sign only (or
/// b: the product is symmetric), and (y, y') = (b.lo, b.hi), or (b.hi, b.lo) where a ≤ 0. Then
/// the lower bound is x y with that end x of a for which it is least: the first one where y ≥ 0,
/// else the second one; for the upper bound x' y' they are the other way round.
[[gnu::always_inline]] inline Interval operator*(const Interval& a, const Interval& b) {
  const bool is_mixed = a.lo < 0 && a.hi > 0;
  if (is_mixed && b.lo < 0 && b.hi > 0) return by_ends::product(a, b);
  const Interval &first = is_mixed ? b : a, &second = is_mixed ? a : b;
  const Ends x(first), y(second);
  const Ends ends = where_negative(Ends(first.lo, first.lo), swapped(y), y);
  const Ends chosen = where_negative(ends, swapped(x), x);
  const Ends p = rounded_products(chosen, ends);
  if (!lie_within(abs(p), directed::exact_from, directed::largest)) [[unlikely]]
    return by_ends::product(a, b);
  return outward(p, product_errors(chosen, ends, p)).as<Interval>();
}

/// None where b contains 0.
inline Interval operator/(const Interval& a, const Interval& b) {
  using directed::divide_down, directed::divide_up;
  if (!a.has_value() || !b.has_value() || b.contains(0.0)) return Interval::none();
  if (b.hi < 0) return -a / -b;
  return {divide_down(a.lo, a.lo >= 0 ? b.hi : b.lo), divide_up(a.hi, a.hi >= 0 ? b.lo : b.hi)};
}

inline Interval& operator+=(Interval& a, const Interval& b) { return a = a + b; }
inline Interval& operator-=(Interval& a, const Interval& b) { return a = a - b; }
inline Interval& operator*=(Interval& a, const Interval& b) { return a = a * b; }

/// {x²}: not x · x, which forgets that both are the same.
inline Interval square(const Interval& a) {
  if (!a.has_value()) return a;
  const double least = mignitude(a), most = magnitude(a);
  return {directed::multiply_down(least, least), directed::multiply_up(most, most)};
}

/// None where a holds a negative number.
inline Interval sqrt(const Interval& a) {
  if (!(a.lo >= 0)) return Interval::none();
  return {directed::sqrt_down(a.lo), directed::sqrt_up(a.hi)};
}

/// Functions of the model language; the double-double arithmetic behind them bounds its own error
/// (core/interval/double_word.hpp), so that bounds are mostly the two doubles around the value.
///@{
Interval exp(const Interval& a);
Interval log(const Interval& a);    ///< none unless a > 0
Interval log10(const Interval& a);  ///< none unless a > 0
Interval sin(const Interval& a);
Interval cos(const Interval& a);
Interval tan(const Interval& a);   ///< none where a may hold a pole
Interval asin(const Interval& a);  ///< none unless −1 ≤ a ≤ 1
Interval acos(const Interval& a);  ///< none unless −1 ≤ a ≤ 1
Interval atan(const Interval& a);
Interval sinh(const Interval& a);
Interval cosh(const Interval& a);
Interval tanh(const Interval& a);
Interval atan2(const Interval& y, const Interval& x);  ///< none where y holds 0 and x a number ≤ 0
/// x^y for x > 0; for one whole exponent every base (0 none where it is negative); 0^y = 0 for y >
/// 0.
Interval pow(const Interval& x, const Interval& y);
///@}

/// Throws std::runtime_error unless this thread rounds to nearest and keeps subnormal numbers: a
/// library linked with -ffast-math changes both for the whole process, and bounds would be wrong.
void require_directed_arithmetic();

}  // namespace enclosure

/// π as an interval; abs, min, max of sets. The sign of a set that holds numbers on both sides, or
/// 0 and others, is the hull of their signs.
template <>
struct ScalarTraits<enclosure::Interval> {
  static enclosure::Interval pi() { return {0x1.921fb54442d18p+1, 0x1.921fb54442d19p+1}; }
  static enclosure::Interval abs(const enclosure::Interval& a) {
    if (!a.has_value()) return a;
    return {enclosure::mignitude(a), enclosure::magnitude(a)};
  }
  static enclosure::Interval min(const enclosure::Interval& a, const enclosure::Interval& b) {
    if (!a.has_value() || !b.has_value()) return enclosure::Interval::none();
    return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
  }
  static enclosure::Interval max(const enclosure::Interval& a, const enclosure::Interval& b) {
    return -min(-a, -b);
  }
  static enclosure::Interval sign(const enclosure::Interval& a) {
    const auto of = [](double x) { return x > 0 ? 1.0 : (x < 0 ? -1.0 : 0.0); };
    return a.has_value() ? enclosure::Interval(of(a.lo), of(a.hi)) : a;
  }
  static enclosure::Interval guard(const enclosure::Interval& weight, const enclosure::Interval& a) {
    if (!weight.has_value()) return weight;
    const enclosure::Interval unweighted(Instruction::unweighted);
    if (weight.is_zero()) return unweighted;
    return weight.lo > 0 || weight.hi < 0 || !a.has_value() ? a : hull(a, unweighted);
  }
};

}  // namespace perp

#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include <perp/core/base/types.hpp>
#include <perp/core/tape/tape.hpp>

namespace perp {
namespace running_error {

/// A double with a bound of its own error, a scalar of the tape (running error analysis):
///     |value − exact| ≤ error   for all exact inputs that are within their own errors,
/// where a function that has no value there is left out (√a for a < 0). Products carry
/// |a| e_b + |b| e_a + e_a e_b + u |a b|, functions e_a max |f'| on [a − e_a, a + e_a] plus their
/// own rounding, each rounded up; an exact operation (by a power of two, with 0, |a|, min) adds
/// nothing, so that powers of two as units change nothing. Constants are exact.
/// Where there is no bound the error is infinite; such a number decides nothing.
struct RunningError {
  double value = 0;
  double error = 0;

  constexpr RunningError() = default;
  constexpr explicit RunningError(double v, double e = 0) : value(v), error(e) {}
};

constexpr double largest = std::numeric_limits<double>::max();
constexpr double least = std::numeric_limits<double>::denorm_min();
constexpr double library = 4;        ///< rounding of a function of <cmath>, in u: 2 ulp
constexpr double coarse = 0x1p-960;  ///< below this a product may round by more than u of itself

/// The result with its error rounded up: at most seven roundings led to it.
inline RunningError bound(double value, double error) {
  error *= 1 + 16 * unit_roundoff;
  if (error > 0 && error < coarse) error += 4 * least;
  if (!std::isfinite(value) || !(error >= 0)) error = std::numeric_limits<double>::infinity();
  return RunningError(value, error);
}

/// The result of an exact operation, whose error has only been scaled by a power of two.
inline RunningError exact(double value, double error) {
  return 0 < error && error < coarse ? bound(value, error) : RunningError(value, error);
}

/// The own rounding of a result that is right to `share` u.
inline double rounding(double value, double share = 1) {
  const double size = std::abs(value);
  return share * unit_roundoff * size + (size < coarse && size > 0 ? share * least : 0);
}

/// f(a) of a function of <cmath> with its largest slope on [a − e, a + e].
inline RunningError function(const RunningError& a, double f, double slope) {
  return bound(f, (a.error > 0 ? slope * a.error : 0) + rounding(f, library));
}

/// Ends of |a| on [a − e, a + e], rounded outwards.
inline double most(const RunningError& a) { return (std::abs(a.value) + a.error) * (1 + 2 * unit_roundoff); }
inline double fewest(const RunningError& a) {
  return std::max(std::abs(a.value) - a.error, 0.0) * (1 - 2 * unit_roundoff);
}

/// asin and acos differ by a constant. Over a distance e in [−1, 1] they change most next to an
/// end, by 2 asin √(e/2) ≤ π √(e/2).
inline RunningError arc(const RunningError& a, double f) {
  const double end = most(a);
  const double slope =
      end < 1 ? 1 / std::sqrt((1 - end) * (1 + end)) : std::numbers::pi / std::sqrt(2 * a.error);
  return bound(
      f, (a.error > 0 ? std::min(slope * a.error, std::numbers::pi) : 0) + rounding(f, library));
}

/// a^b for an exact b: |b| |a|^(b−1) is largest at an end of [a − e, a + e]; for 0 < b < 1 also
/// |a^b − c^b| ≤ |a − c|^b.
inline double exact_power_change(const RunningError& a, double b) {
  if (a.error == 0 || b == 0) return 0;
  if (b >= 1) return b * std::pow(most(a), b - 1) * a.error;
  const double steep = std::abs(b) * std::pow(fewest(a), b - 1) * a.error;
  return b > 0 ? std::min(steep, std::pow(a.error, b)) : steep;
}

inline RunningError operator-(const RunningError& a) { return RunningError(-a.value, a.error); }

inline RunningError operator+(const RunningError& a, const RunningError& b) {
  const double sum = a.value + b.value;
  if (a.value == 0 && a.error == 0) return RunningError(sum, b.error);
  if (b.value == 0 && b.error == 0) return RunningError(sum, a.error);
  const bool rounds = a.value != 0 && b.value != 0;
  return bound(sum, a.error + b.error + (rounds ? unit_roundoff * std::abs(sum) : 0));
}

inline RunningError operator-(const RunningError& a, const RunningError& b) { return a + -b; }

/// Is it an exact power of two, which scales numbers of normal size without rounding?
inline bool is_scale(const RunningError& a) {
  constexpr int digits = 52;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(a.value) & ~(std::uint64_t{1} << 63);
  const std::uint64_t mantissa = bits & ((std::uint64_t{1} << digits) - 1), exponent = bits >> digits;
  if (a.error != 0 || exponent == 0x7FF) return false;
  return exponent != 0 ? mantissa == 0 : std::has_single_bit(mantissa);
}

/// Is a number times a power of two, of this size and with this error, the exact one? A 0 within an error has no digits to
/// lose.
inline bool keeps_digits(const RunningError& number, double size, double error) {
  return number.value == 0 ? error >= coarse : coarse < size && size <= largest;
}

inline bool is_zero(const RunningError& a) { return a.value == 0 && a.error == 0; }

inline RunningError operator*(const RunningError& a, const RunningError& b) {
  const double product = a.value * b.value, size = std::abs(product);
  if (is_zero(a) || is_zero(b)) {
    const bool finite = std::isfinite(a.error + b.error + product);
    return finite ? RunningError(product) : bound(product, std::nan(""));
  }
  const double from_a = std::abs(b.value) * a.error, from_b = std::abs(a.value) * b.error;
  if (is_scale(a) && keeps_digits(b, size, from_b)) return exact(product, from_b);
  if (is_scale(b) && keeps_digits(a, size, from_a)) return exact(product, from_a);
  const double passed = from_b + from_a + a.error * b.error;
  return bound(product, passed + rounding(product) + (size < coarse ? least : 0));
}

/// |a/b − x/y| ≤ (e_a + |a/b| e_b) / (|b| − e_b)
inline RunningError operator/(const RunningError& a, const RunningError& b) {
  const double quotient = a.value / b.value, size = std::abs(quotient);
  const double denominator = std::abs(b.value) - b.error;
  if (!(denominator > 0)) return bound(quotient, std::nan(""));
  if (is_zero(a)) return bound(quotient, 0);
  const double scaled = a.error / std::abs(b.value);
  if (is_scale(b) && keeps_digits(a, size, scaled)) return exact(quotient, scaled);
  const double passed = (a.error + size * b.error) / denominator;
  return bound(quotient, passed + rounding(quotient) + (size < coarse ? least : 0));
}

/// The largest slope of sin or cos on [a − e, a + e], from that at a. An argument that is not known to
/// half a period tells nothing, not even that its sine lies in [−1, 1].
inline double slope_of_wave(const RunningError& a, double slope) {
  constexpr double half_period = 3;
  return a.error < half_period ? std::min(std::abs(slope) + a.error, 1.0) : std::numeric_limits<double>::infinity();
}
inline RunningError sin(const RunningError& a) { return function(a, std::sin(a.value), slope_of_wave(a, std::cos(a.value))); }
inline RunningError cos(const RunningError& a) { return function(a, std::cos(a.value), slope_of_wave(a, std::sin(a.value))); }
/// No pole in between as long as |cos| − e stays above 0.
inline RunningError tan(const RunningError& a) {
  const double rounded = 2 * library * unit_roundoff;
  const double cosine = std::abs(std::cos(a.value)) * (1 - rounded) - a.error;
  const double slope = cosine > 0 ? 1 / (cosine * cosine) : std::nan("");
  return function(a, std::tan(a.value), slope);
}
inline RunningError asin(const RunningError& a) { return arc(a, std::asin(a.value)); }
inline RunningError acos(const RunningError& a) { return arc(a, std::acos(a.value)); }
inline RunningError atan(const RunningError& a) {
  const double nearest = fewest(a);
  return function(a, std::atan(a.value), 1 / (1 + nearest * nearest));
}
inline RunningError sinh(const RunningError& a) {
  return function(a, std::sinh(a.value), std::cosh(most(a)));
}
inline RunningError cosh(const RunningError& a) {
  return function(a, std::cosh(a.value), std::sinh(most(a)));
}
inline RunningError tanh(const RunningError& a) {
  const double cosh = std::cosh(fewest(a));
  return function(a, std::tanh(a.value), 1 / (cosh * cosh));
}
inline RunningError exp(const RunningError& a) {
  const double f = std::exp(a.value);
  RunningError result = function(a, f, std::exp(a.value + a.error));
  if (f == 0) result.error += 2 * least;  // too small for a number
  return result;
}
inline RunningError log(const RunningError& a) {
  const double nearest = a.value - a.error;
  return function(a, std::log(a.value), nearest > 0 ? 1 / nearest : std::nan(""));
}
inline RunningError log10(const RunningError& a) {
  const double nearest = (a.value - a.error) * std::numbers::ln10;
  return function(a, std::log10(a.value), nearest > 0 ? 1 / nearest : std::nan(""));
}
/// |√a − √b| = |a − b| / (√a + √b), at most √|a − b|.
inline RunningError sqrt(const RunningError& a) {
  const double f = std::sqrt(a.value);
  if (a.error == 0) return bound(f, rounding(f));
  const double nearest = std::sqrt(fewest(a));
  const double change = std::min(a.error / (f + nearest), std::sqrt(a.error));
  return bound(f, (f > 0 ? change : std::sqrt(a.error)) + rounding(f));
}
/// With an error of b as well: ln a^b moves by at most |b| e_a / (a − e_a) + e_b |ln a|.
inline RunningError pow(const RunningError& a, const RunningError& b) {
  const double f = std::pow(a.value, b.value);
  const double own = rounding(f, library) + (f == 0 && a.value != 0 ? least : 0);
  if (b.error == 0) {
    if (b.value == 1) return a;
    return bound(f, exact_power_change(a, b.value) + own);
  }
  const double low = fewest(a), high = most(a);
  if (!(a.value > 0 && low > 0)) return bound(f, std::nan(""));
  const double log = std::max(std::abs(std::log(low)), std::abs(std::log(high)));
  const double exponent =
      (std::abs(b.value) + b.error) * a.error / low + b.error * log * (1 + unit_roundoff * 8);
  return bound(f, f * (1 + 8 * unit_roundoff) * std::expm1(exponent * (1 + 16 * unit_roundoff)) + own);
}
/// Along the way from (x, y) to another point p + s v the angle turns by ∫ |p × v| / |p + s v|² ds. On its
/// cut (y = 0, x ≤ 0) it is on neither side and has no bound.
inline RunningError atan2(const RunningError& y, const RunningError& x) {
  const double f = std::atan2(y.value, x.value);
  const double own = rounding(f, library);
  if (std::abs(y.value) <= y.error && x.value <= x.error) return bound(f, std::nan(""));
  if (x.error == 0 && y.error == 0) return bound(f, own);
  const double away =
      std::hypot(x.value, y.value) * (1 - 4 * unit_roundoff) - std::hypot(x.error, y.error) * (1 + 4 * unit_roundoff);
  if (!(away > 0)) return bound(f, 2 * std::numbers::pi + own);
  const double turn =
      (std::abs(x.value) / away * y.error + std::abs(y.value) / away * x.error) / away;
  return bound(f, turn + own);
}

}  // namespace running_error

using running_error::RunningError;

/// 1, −1: the exact number has this sign, being more than k errors away from 0. 0: exactly 0 where
/// the error is 0, else undecided.
inline int decided_sign(const RunningError& a, double k = 1) {
  if (a.value > k * a.error) return 1;
  return -a.value > k * a.error ? -1 : 0;
}

/// Is it 0 as far as its rounding lets see? An error without bound says no.
inline bool vanishes(const RunningError& a, double k) {
  return std::isfinite(a.error) && std::abs(a.value) <= k * a.error;
}

/// Half a unit in the last place: the error of a number that was rounded to this one.
inline double half_ulp(double value) {
  const double size = std::abs(value);
  return (std::bit_cast<double>(std::bit_cast<std::uint64_t>(size) + 1) - size) / 2;  // the next double less this one
}

template <>
struct ScalarTraits<RunningError> {
  static RunningError pi() { return RunningError(std::numbers::pi, 0x1.1a62633145c07p-53); }
  static RunningError abs(const RunningError& a) {
    return RunningError(std::abs(a.value), a.error);
  }
  /// The smaller one where that is certain; else it moves by no more than both do.
  static RunningError min(const RunningError& a, const RunningError& b) {
    const double value = ScalarTraits<double>::min(a.value, b.value);
    const double apart = std::abs(a.value - b.value) * (1 - 2 * unit_roundoff);
    if (!(apart > (a.error + b.error) * (1 + 2 * unit_roundoff)))
      return running_error::bound(value, std::max(a.error, b.error));
    return running_error::bound(value, a.value < b.value ? a.error : b.error);
  }
  static RunningError max(const RunningError& a, const RunningError& b) { return -min(-a, -b); }
  static RunningError sign(const RunningError& a) {
    const double value = ScalarTraits<double>::sign(a.value);
    if (std::isnan(value)) return running_error::bound(value, 0);
    const bool decided = std::abs(a.value) > a.error || a.error == 0;
    return RunningError(value, decided ? 0 : 1 + std::abs(value));
  }
  /// What is multiplied with a weight that may be 0 has that bound, too, where it has a value.
  static RunningError guard(const RunningError& weight, const RunningError& a) {
    return weight.value == 0 && weight.error == 0 ? RunningError(Instruction::unweighted) : a;
  }
  static RunningError table(const RunningError& a, const RunningError& number) {
    return std::isnan(a.value) ? a : DataTable::of(number.value).value(a, a.value);
  }
};

}  // namespace perp

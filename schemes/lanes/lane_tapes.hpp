#pragma once

#include <vector>

#include <perp/core/tape/running_error.hpp>
#include <perp/core/tape/tape.hpp>
#include <perp/schemes/lanes/eight.hpp>

namespace perp::eight {

/// A line of a tape that eight runs share; each has its own constants.
struct LaneLine {
  Operation operation;
  int a, b, to;
  friend bool operator==(const LaneLine&, const LaneLine&) = default;
};

template <class Number>
PERP_EIGHT_INLINE void lane_by_lane(Operation operation, const Eight& a, const Eight& b, Eight& result) {
  for (int i = 0; i < width; ++i) result[i] = apply_operation(operation, Number(a[i]), Number(b[i]));
}

/// `apply_operation` on doubles.
PERP_EIGHT_INLINE void apply(Operation operation, const Eight& a, const Eight& b, Eight& result) {
  switch (operation) {
    case Operation::negate: result = -a; return;
    case Operation::add: result = a + b; return;
    case Operation::subtract: result = a - b; return;
    case Operation::multiply: result = a * b; return;
    case Operation::divide: result = a / b; return;
    case Operation::abs: result = size_of(a); return;
    case Operation::guard: result = chosen(a == all(0), all(Instruction::unweighted), b); return;
    case Operation::sign: result = chosen(a > all(0), all(1), chosen(a < all(0), all(-1), a * all(0))); return;
    default: lane_by_lane<double>(operation, a, b, result);
  }
}

struct Bounded {
  Eight value, error;
};

/// The functions of running_error.hpp, cases as choices.
PERP_EIGHT_INLINE Bounded bound(const Eight& value, const Eight& passed) {
  Eight error = passed * all(1 + 16 * unit_roundoff);
  const Bits is_small = (error > all(0)) & (error < all(running_error::coarse));
  error += chosen(is_small, all(4 * running_error::least), all(0));
  const Bits is_known = is_finite(value) & (error >= all(0));
  return {value, chosen(is_known, error, all(std::numeric_limits<double>::infinity()))};
}
PERP_EIGHT_INLINE Eight exact_error(const Eight& value, const Eight& error) {
  const Bits is_small = (error > all(0)) & (error < all(running_error::coarse));
  return chosen(is_small, bound(value, error).error, error);
}
PERP_EIGHT_INLINE Bits is_zero(const Bounded& a) { return (a.value == all(0)) & (a.error == all(0)); }
PERP_EIGHT_INLINE Eight rounding(const Eight& size) {
  const Bits is_small = (size < all(running_error::coarse)) & (size > all(0));
  return all(unit_roundoff) * size + chosen(is_small, all(running_error::least), all(0));
}
PERP_EIGHT_INLINE Bits is_scale(const Bounded& a) {
  constexpr int digits = 52;
  constexpr long long mantissas = (1LL << digits) - 1;
  const Bits bits = bits_of(size_of(a.value));
  const Bits exponent = moved_right(bits, digits), mantissa = bits & all_bits(mantissas);
  const Bits is_bit = (mantissa != all_bits(0)) & ((mantissa & (mantissa - all_bits(1))) == all_bits(0));
  const Bits is_normal = exponent != all_bits(0);
  return (a.error == all(0)) & (exponent != all_bits(0x7FF)) & ((is_normal & (mantissa == all_bits(0))) | (~is_normal & is_bit));
}

PERP_EIGHT_INLINE Bits keeps_digits(const Bounded& number, const Eight& scaled, const Eight& error) {
  const Bits is_none = number.value == all(0), is_plain = (size_of(scaled) > all(running_error::coarse)) & is_finite(scaled);
  return (is_none & (error >= all(running_error::coarse))) | (~is_none & is_plain);
}

/// Is a number of some lane exact? Else it is neither an exact 0 nor an exact power of two.
PERP_EIGHT_INLINE bool is_exact_somewhere(const Bounded& a) { return any(a.error == all(0)); }

PERP_EIGHT_INLINE Bounded sum_of(const Bounded& a, const Bounded& b) {
  const Eight sum = a.value + b.value;
  const Bits rounds = (a.value != all(0)) & (b.value != all(0));
  Bounded result = bound(sum, a.error + b.error + chosen(rounds, all(unit_roundoff) * size_of(sum), all(0)));
  if (is_exact_somewhere(b)) result.error = chosen(is_zero(b), a.error, result.error);
  if (is_exact_somewhere(a)) result.error = chosen(is_zero(a), b.error, result.error);
  return result;
}

PERP_EIGHT_INLINE Bounded product_of(const Bounded& a, const Bounded& b) {
  const Eight product = a.value * b.value, size = size_of(product);
  const Eight size_a = size_of(a.value), size_b = size_of(b.value);
  const Eight passed = size_a * b.error + size_b * a.error + a.error * b.error;
  const Eight least = chosen(size < all(running_error::coarse), all(running_error::least), all(0));
  Bounded result = bound(product, passed + rounding(size) + least);
  const bool is_exact_a = is_exact_somewhere(a), is_exact_b = is_exact_somewhere(b);
  if (!is_exact_a && !is_exact_b) return result;
  const Eight from_a = size_b * a.error, from_b = size_a * b.error;
  if (is_exact_b) result.error = chosen(is_scale(b) & keeps_digits(a, product, from_a), exact_error(product, from_a), result.error);
  if (is_exact_a) result.error = chosen(is_scale(a) & keeps_digits(b, product, from_b), exact_error(product, from_b), result.error);
  const Bits is_known = is_finite(a.error + b.error + product);
  const Eight of_zero = chosen(is_known, all(0), all(std::numeric_limits<double>::infinity()));
  result.error = chosen(is_zero(a) | is_zero(b), of_zero, result.error);
  return result;
}

PERP_EIGHT_INLINE Bounded quotient_of(const Bounded& a, const Bounded& b) {
  const Eight quotient = a.value / b.value, size = size_of(quotient);
  const Eight denominator = size_of(b.value) - b.error;
  const Eight passed = (a.error + size * b.error) / denominator;
  const Eight least = chosen(size < all(running_error::coarse), all(running_error::least), all(0));
  Eight error = bound(quotient, passed + rounding(size) + least).error;
  if (is_exact_somewhere(b)) {
    const Eight scaled = a.error / size_of(b.value);
    error = chosen(is_scale(b) & keeps_digits(a, quotient, scaled), exact_error(quotient, scaled), error);
  }
  if (is_exact_somewhere(a)) error = chosen(is_zero(a), bound(quotient, all(0)).error, error);
  error = chosen(denominator > all(0), error, all(std::numeric_limits<double>::infinity()));
  return {quotient, error};
}

PERP_EIGHT_INLINE Bounded sign_of(const Bounded& a) {
  const Eight value = chosen(a.value > all(0), all(1), chosen(a.value < all(0), all(-1), a.value * all(0)));
  const Bits is_decided = (size_of(a.value) > a.error) | (a.error == all(0));
  const Eight error = chosen(is_decided, all(0), all(1) + size_of(value));
  return {value, chosen(value == value, error, bound(value, all(0)).error)};
}

/// `apply_operation` on running errors.
PERP_EIGHT_INLINE void apply(Operation operation, const Bounded& a, const Bounded& b, Bounded& result) {
  switch (operation) {
    case Operation::negate: result = {-a.value, a.error}; return;
    case Operation::add: result = sum_of(a, b); return;
    case Operation::subtract: result = sum_of(a, {-b.value, b.error}); return;
    case Operation::multiply: result = product_of(a, b); return;
    case Operation::divide: result = quotient_of(a, b); return;
    case Operation::abs: result = {size_of(a.value), a.error}; return;
    case Operation::sign: result = sign_of(a); return;
    case Operation::guard:
      result = {chosen(is_zero(a), all(Instruction::unweighted), b.value), chosen(is_zero(a), all(0), b.error)};
      return;
    default:
      for (int i = 0; i < width; ++i) {
        const RunningError x =
            apply_operation(operation, RunningError(a.value[i], a.error[i]), RunningError(b.value[i], b.error[i]));
        result.value[i] = x.value;
        result.error[i] = x.error;
      }
  }
}

}  // namespace perp::eight

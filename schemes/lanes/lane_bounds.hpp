#pragma once

#include <perp/schemes/lanes/lane_code.hpp>
#include <perp/schemes/lanes/lane_tapes.hpp>

// Running errors of eight runs where it is known beforehand which of the cases of running_error.hpp each line is: the same
// bits as `apply` has, as long as no error is next to the smallest numbers.

namespace perp::eight {

/// What is added to an error of this size or more where numbers are next to the smallest ones is lost in its rounding.
inline constexpr double plain_error = 0x1p-900;

PERP_EIGHT_INLINE Eight plain_bound(const Eight& passed) { return passed * all(1 + 16 * unit_roundoff); }
PERP_EIGHT_INLINE Bits has_error(const Bounded& a) { return a.error >= all(plain_error); }
/// a ± b
PERP_EIGHT_INLINE Bounded plain_sum(const Eight& value, const Bounded& a, const Bounded& b) {
  const Bits rounds = (a.value != all(0)) & (b.value != all(0));
  const Eight own = numbers_of(bits_of(all(unit_roundoff) * size_of(value)) & rounds);
  return {value, plain_bound(a.error + b.error + own)};
}

PERP_EIGHT_INLINE Bounded plain_product(const Bounded& a, const Bounded& b) {
  const Eight value = a.value * b.value;
  const Eight passed = size_of(a.value) * b.error + size_of(b.value) * a.error + a.error * b.error;
  return {value, plain_bound(passed + all(unit_roundoff) * size_of(value))};
}

PERP_EIGHT_INLINE Bounded plain_product_by_scale(const Bounded& a, const Bounded& b) {
  const Eight value = a.value * b.value, passed = size_of(b.value) * a.error;
  return {value, chosen(keeps_digits(a, value, passed), passed, plain_bound(passed + all(unit_roundoff) * size_of(value)))};
}

PERP_EIGHT_INLINE Bounded plain_quotient(const Bounded& a, const Bounded& b, Bits& valid) {
  const Eight value = a.value / b.value, size = size_of(value), denominator = size_of(b.value) - b.error;
  valid &= denominator > all(0);
  return {value, plain_bound((a.error + size * b.error) / denominator + all(unit_roundoff) * size)};
}

PERP_EIGHT_INLINE Bounded plain_quotient_by_scale(const Bounded& a, const Bounded& b) {
  const Eight value = a.value / b.value, passed = a.error / size_of(b.value);
  return {value, chosen(keeps_digits(a, value, passed), passed, plain_bound(passed + all(unit_roundoff) * size_of(value)))};
}

/// Quotients and what passes an error on: `valid` keeps the lanes in which it is as supposed.
PERP_EIGHT_INLINE void run_other_line(const BoundedLine& line, const Bounded& a, const Bounded& b, Bounded& to, Bits& valid) {
  switch (line.work) {
    case BoundedWork::quotient: to = plain_quotient(a, b, valid), valid &= has_error(to); return;
    case BoundedWork::quotient_by_scale: to = plain_quotient_by_scale(a, b), valid &= has_error(to); return;
    case BoundedWork::quotient_of_zero:
      to = {a.value / b.value, all(0)};
      valid &= (size_of(b.value) - b.error > all(0)) & (to.value == all(0));
      return;
    case BoundedWork::negate: to = {-a.value, a.error}; return;
    case BoundedWork::abs: to = {size_of(a.value), a.error}; return;
    case BoundedWork::sign: to = {sign_of(a).value, all(0)}, valid &= size_of(a.value) > a.error; return;
    case BoundedWork::second: to = b; return;
    case BoundedWork::unweighted: to = {all(Instruction::unweighted), all(0)}; return;
    case BoundedWork::function: apply(line.operation, a, b, to), valid &= has_error(to); return;
    default: apply(line.operation, a, b, to);
  }
}

PERP_EIGHT_INLINE void run_line(const BoundedLine& line, const Bounded& a, const Bounded& b, Bounded& to, Bits& valid) {
  switch (line.work) {
    case BoundedWork::sum: to = plain_sum(a.value + b.value, a, b), valid &= has_error(to); return;
    case BoundedWork::difference: to = plain_sum(a.value - b.value, a, b), valid &= has_error(to); return;
    case BoundedWork::product: to = plain_product(a, b), valid &= has_error(to); return;
    case BoundedWork::product_by_scale: to = plain_product_by_scale(a, b), valid &= has_error(to); return;
    case BoundedWork::product_with_zero:
      to = {a.value * b.value, all(0)};
      valid &= is_finite(a.error + b.error + to.value);
      return;
    case BoundedWork::sum_with_zero: to = {a.value + b.value, a.error}; return;
    case BoundedWork::sum_from_zero: to = {a.value + b.value, b.error}; return;
    case BoundedWork::difference_with_zero: to = {a.value - b.value, a.error}; return;
    case BoundedWork::difference_from_zero: to = {a.value - b.value, b.error}; return;
    default: run_other_line(line, a, b, to, valid);
  }
}

/// All lines; returns the lanes in which their results are those of `apply`.
PERP_EIGHT_INLINE Bits run_plain(const LaneCode& code, Bounded* values) {
  Bits valid = all_bits(-1);
  for (const int place : code.known) valid &= has_error(values[place]);
  const BoundedLine* const end = code.bounded.data() + code.bounded.size();
  for (const BoundedLine* line = code.bounded.data(); line != end; ++line)
    run_line(*line, values[line->a], values[line->b], values[line->to], valid);
  return valid;
}

}  // namespace perp::eight

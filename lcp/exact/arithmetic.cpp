#include <cmath>
#include <cstdint>

#include <perp/lcp/exact/arithmetic.hpp>

namespace perp {

/// The quotient with at least 55 bits (two more than a double has) and a sticky last bit, then one
/// rounding; among subnormal numbers with two bits more than these have.
double to_double(const Rational& value) {
  const Integer top = abs(numerator(value)), bottom = denominator(value);
  if (top == 0) return 0;
  const auto bits = [](const Integer& n) { return static_cast<long>(msb(n)); };
  constexpr long finest = 1076;  // 2^-1074 is the least double
  const long shift = std::min(56 - (bits(top) - bits(bottom)), finest);
  const auto distance = static_cast<unsigned long>(std::abs(shift));
  const Integer dividend = shift > 0 ? Integer(top << distance) : top;
  const Integer divisor = shift > 0 ? bottom : Integer(bottom << distance);
  Integer quotient, rest;
  divide_qr(dividend, divisor, quotient, rest);
  auto digits = static_cast<std::uint64_t>(quotient);
  if (rest != 0) digits |= 1U;
  const double size = std::ldexp(static_cast<double>(digits), static_cast<int>(-shift));
  return value < 0 ? -size : size;
}

}  // namespace perp

#pragma once

#include <cmath>
#include <cstring>
#include <limits>

#include <perp/core/base/types.hpp>

// Vectors are never passed between functions of the program: everything is inlined.
#pragma GCC diagnostic ignored "-Wpsabi"

// Numbers of eight runs side by side, in the vector types of the compiler. Everything is inlined into functions of one
// instruction set each, which is chosen when the program runs; none of them joins a product and a sum into one
// rounding: the source is compiled with contractions off. What a function here does on a lane is what the function of
// its name does on a double, bit by bit.
#define PERP_EIGHT_INLINE inline __attribute__((always_inline))

namespace perp::eight {

inline constexpr int width = 8;
typedef double Eight __attribute__((vector_size(64), aligned(64)));
typedef long long Bits __attribute__((vector_size(64), aligned(64)));

PERP_EIGHT_INLINE Eight all(double x) { return Eight{x, x, x, x, x, x, x, x}; }
PERP_EIGHT_INLINE Bits all_bits(long long x) { return Bits{x, x, x, x, x, x, x, x}; }
PERP_EIGHT_INLINE Bits bits_of(const Eight& x) { return (Bits)x; }
PERP_EIGHT_INLINE Eight numbers_of(const Bits& x) { return (Eight)x; }
PERP_EIGHT_INLINE Eight chosen(const Bits& mask, const Eight& x, const Eight& y) { return mask ? x : y; }
PERP_EIGHT_INLINE Bits chosen(const Bits& mask, const Bits& x, const Bits& y) { return (mask & x) | (~mask & y); }
PERP_EIGHT_INLINE void put(const Bits& mask, Eight& to, const Eight& from) { to = mask ? from : to; }
PERP_EIGHT_INLINE Eight size_of(const Eight& x) { return numbers_of(bits_of(x) & all_bits(0x7FFFFFFFFFFFFFFF)); }
PERP_EIGHT_INLINE bool any(const Bits& mask) {
  long long sum = 0;
  for (int i = 0; i < width; ++i) sum |= mask[i];
  return sum != 0;
}
PERP_EIGHT_INLINE int count(const Bits& mask) {
  long long sum = 0;
  for (int i = 0; i < width; ++i) sum -= mask[i];
  return static_cast<int>(sum);
}
PERP_EIGHT_INLINE Bits is_finite(const Eight& x) { return size_of(x) <= all(std::numeric_limits<double>::max()); }
/// std::max(a, b)
PERP_EIGHT_INLINE Eight larger(const Eight& a, const Eight& b) { return chosen(a < b, b, a); }
/// Of finite numbers.
PERP_EIGHT_INLINE Eight half_ulp(const Eight& x) {
  const Eight size = size_of(x);
  return (numbers_of(bits_of(size) + all_bits(1)) - size) / all(2);
}

}  // namespace perp::eight

#pragma once

#include <cmath>
#include <cstring>
#include <limits>

#include <perp/core/base/types.hpp>

// Vectors are never passed between functions of the program: everything is inlined.
#pragma GCC diagnostic ignored "-Wpsabi"

// Numbers of eight runs side by side, in the vector types of the compiler, two of four: comparisons of wider ones are made
// one by one by it. Everything is inlined into one function for processors with vectors of 256 bits, which is asked for when the
// program runs; none of them joins a product and a sum into one rounding: the source is compiled with contractions off. What a
// function here does on a lane is what the function of its name does on a double, bit by bit.
#define PERP_EIGHT_INLINE inline __attribute__((always_inline))
// A part of it that is a function of its own, for one size that the compiler knows.
#if defined(__x86_64__) && defined(__linux__)
#define PERP_EIGHT_PART __attribute__((noinline, target("avx2")))
#else
#define PERP_EIGHT_PART __attribute__((noinline))
#endif
#define PERP_EIGHT_UNROLLED _Pragma("GCC unroll 8")

namespace perp::eight {

inline constexpr int width = 8;
typedef double Four __attribute__((vector_size(32), aligned(32), may_alias));
typedef long long FourBits __attribute__((vector_size(32), aligned(32), may_alias));

/// One word for each lane: −1 and 0 as yes and no, or a whole number.
struct alignas(64) Bits {
  FourBits low, high;
  PERP_EIGHT_INLINE long long& operator[](int lane) { return reinterpret_cast<long long*>(this)[lane]; }
  PERP_EIGHT_INLINE long long operator[](int lane) const { return reinterpret_cast<const long long*>(this)[lane]; }
};

struct alignas(64) Eight {
  Four low, high;
  PERP_EIGHT_INLINE double& operator[](int lane) { return reinterpret_cast<double*>(this)[lane]; }
  PERP_EIGHT_INLINE double operator[](int lane) const { return reinterpret_cast<const double*>(this)[lane]; }
};

#define PERP_EIGHT_OPERATOR(Result, Operand, symbol)                                        \
  PERP_EIGHT_INLINE Result operator symbol(const Operand& a, const Operand& b) {            \
    return {a.low symbol b.low, a.high symbol b.high};                                      \
  }
PERP_EIGHT_OPERATOR(Eight, Eight, +)
PERP_EIGHT_OPERATOR(Eight, Eight, -)
PERP_EIGHT_OPERATOR(Eight, Eight, *)
PERP_EIGHT_OPERATOR(Eight, Eight, /)
PERP_EIGHT_OPERATOR(Bits, Eight, <)
PERP_EIGHT_OPERATOR(Bits, Eight, >)
PERP_EIGHT_OPERATOR(Bits, Eight, <=)
PERP_EIGHT_OPERATOR(Bits, Eight, >=)
PERP_EIGHT_OPERATOR(Bits, Eight, ==)
PERP_EIGHT_OPERATOR(Bits, Eight, !=)
PERP_EIGHT_OPERATOR(Bits, Bits, +)
PERP_EIGHT_OPERATOR(Bits, Bits, -)
PERP_EIGHT_OPERATOR(Bits, Bits, &)
PERP_EIGHT_OPERATOR(Bits, Bits, |)
PERP_EIGHT_OPERATOR(Bits, Bits, ^)
PERP_EIGHT_OPERATOR(Bits, Bits, <)
PERP_EIGHT_OPERATOR(Bits, Bits, >)
PERP_EIGHT_OPERATOR(Bits, Bits, ==)
PERP_EIGHT_OPERATOR(Bits, Bits, !=)
#undef PERP_EIGHT_OPERATOR
PERP_EIGHT_INLINE Eight operator-(const Eight& a) { return {-a.low, -a.high}; }
PERP_EIGHT_INLINE Bits operator-(const Bits& a) { return {-a.low, -a.high}; }
PERP_EIGHT_INLINE Bits operator~(const Bits& a) { return {~a.low, ~a.high}; }
PERP_EIGHT_INLINE Bits operator<<(const Bits& a, int by) { return {a.low << by, a.high << by}; }
PERP_EIGHT_INLINE Eight& operator+=(Eight& a, const Eight& b) { return a = a + b; }
PERP_EIGHT_INLINE Eight& operator-=(Eight& a, const Eight& b) { return a = a - b; }
PERP_EIGHT_INLINE Bits& operator&=(Bits& a, const Bits& b) { return a = a & b; }
PERP_EIGHT_INLINE Bits& operator|=(Bits& a, const Bits& b) { return a = a | b; }
PERP_EIGHT_INLINE Bits& operator^=(Bits& a, const Bits& b) { return a = a ^ b; }

PERP_EIGHT_INLINE Eight all(double x) { return {Four{x, x, x, x}, Four{x, x, x, x}}; }
PERP_EIGHT_INLINE Bits all_bits(long long x) { return {FourBits{x, x, x, x}, FourBits{x, x, x, x}}; }
PERP_EIGHT_INLINE Bits bits_of(const Eight& x) { return {(FourBits)x.low, (FourBits)x.high}; }
PERP_EIGHT_INLINE Eight numbers_of(const Bits& x) { return {(Four)x.low, (Four)x.high}; }
/// The bits of positive numbers, moved right.
PERP_EIGHT_INLINE Bits moved_right(const Bits& x, int by) {
  typedef unsigned long long Unsigned __attribute__((vector_size(32), aligned(32)));
  return {(FourBits)((Unsigned)x.low >> by), (FourBits)((Unsigned)x.high >> by)};
}
PERP_EIGHT_INLINE Eight chosen(const Bits& mask, const Eight& x, const Eight& y) {
  return {mask.low ? x.low : y.low, mask.high ? x.high : y.high};
}
PERP_EIGHT_INLINE Bits chosen(const Bits& mask, const Bits& x, const Bits& y) { return (mask & x) | (~mask & y); }
PERP_EIGHT_INLINE void put(const Bits& mask, Eight& to, const Eight& from) { to = chosen(mask, from, to); }
PERP_EIGHT_INLINE Eight size_of(const Eight& x) { return numbers_of(bits_of(x) & all_bits(0x7FFFFFFFFFFFFFFF)); }
PERP_EIGHT_INLINE bool any(const Bits& mask) {
  typedef long long Two __attribute__((vector_size(16)));
  const FourBits both = mask.low | mask.high;
  const Two half = __builtin_shufflevector(both, both, 0, 1) | __builtin_shufflevector(both, both, 2, 3);
  return (half[0] | half[1]) != 0;
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

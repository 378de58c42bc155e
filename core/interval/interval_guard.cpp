// What processors and compilers make of the arithmetic that enclosures stand on: its check, called before each, and errors of
// products by fused operations where the processor has them, for the program is built for processors that may not.
#include <stdexcept>

#if defined(__SSE2__) && !defined(__FMA__)
#include <immintrin.h>
#endif

#include <perp/core/interval/interval.hpp>

#if defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || \
    (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ != 0)
#error Directed rounding needs IEEE arithmetic: compile without -funsafe-math-optimizations and -ffinite-math-only.
#endif
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ <= 12
#error g++ up to 12 mixes up numbers of constant lists where it may use AVX-512: add -mno-avx512f, or take clang++.
#endif

namespace perp::enclosure {
namespace {

struct Known {
  Interval (*f)(const Interval&);
  double x, below;  ///< f(x) is between this double and the next one
};

/// Every function at a point that none of its short cuts takes, and sines that use all of the
/// digits of 2/π; the values are MPFR's. Constants or tables that a compiler has spoilt are seen
/// here.
bool functions_are_right() {
  const Known list[] = {
      {exp, 1, 0x1.5bf0a8b145769p+1},        {exp, 100, 0x1.3494a9b171bf4p+144},
      {log, 3, 0x1.193ea7aad030ap+0},        {log10, 3, 0x1.e8927964fd5fdp-2},
      {sin, 1, 0x1.aed548f090ceep-1},        {sin, 0x1p100, -0x1.be8ed97ac1f59p-1},
      {sin, 0x1p300, 0x1.f45bc0cf32e45p-1},  {sin, 0x1p500, 0x1.b78f3ff6b537bp-2},
      {sin, 0x1p700, -0x1.d79a0a9e0e9e3p-2}, {sin, 0x1p1000, -0x1.460b8ae1c886fp-3},
      {cos, 1, 0x1.14a280fb5068bp-1},        {tan, 1, 0x1.8eb245cbee3a5p+0},
      {asin, 0.5, 0x1.0c152382d7365p-1},     {acos, 0.25, 0x1.51700e0c14b24p+0},
      {atan, 3, 0x1.3fc176b7a855fp+0},       {sinh, 1, 0x1.2cd9fc44eb982p+0},
      {cosh, 1, 0x1.8b07551d9f55p+0},        {tanh, 1, 0x1.85efab514f394p-1}};
  for (const Known& known : list) {
    const volatile double x = known.x;  // computed while the program runs
    const Interval value(known.below, directed::next_up(known.below));
    if (!known.f(Interval(x)).contains(value)) return false;
  }
  return true;
}

// Operands that the compiler does not know, so that they are added while the program runs.

bool rounds_to_nearest() {
  const volatile double one = 1, half_ulp = 0x1p-53;
  const double to_even = one + half_ulp, to_odd = (one + 2 * half_ulp) + half_ulp;
  return to_even == 1 && to_odd == 1 + 0x1p-51 && -one - half_ulp == -1;
}

bool keeps_subnormals() {
  const volatile double one = 1, least = 0x1p-1074;
  return least + least > 0 && 0x1p-1000 * (one * 0x1p-50) != 0;
}

/// 1/3 = fl(1/3) + r, 3 fl(1/3) = 1 − 2^−54: seen only if fma rounds once.
bool fuses_with_one_rounding() {
  const volatile double one = 1, least = 0x1p-1074, third = 1.0 / 3;
  return std::fma(third, 3.0, -1.0) == -0x1p-54 && directed::multiply_down(third, 3) < 1 &&
         directed::divide_up(one, 3) > third && directed::add_down(one, -least) < 1;
}

void require_rounding() {
  if (!rounds_to_nearest())
    throw std::runtime_error("the processor does not round to nearest: bounds would be no bounds");
  if (!keeps_subnormals())
    throw std::runtime_error("subnormal numbers are flushed to zero: bounds would be no bounds");
  if (!fuses_with_one_rounding())
    throw std::runtime_error("fused multiply-add does not round once: bounds would be no bounds");
}

}  // namespace

void require_directed_arithmetic() {
  require_rounding();
  static const bool are_right = functions_are_right();
  if (!are_right)
    throw std::runtime_error(
        "functions of intervals are wrong in this build: bounds would be no bounds; expected a "
        "build by another compiler, or with -DPERP_INTERVAL_FUNCTIONS=mpfr");
}

}  // namespace perp::enclosure

#if defined(__SSE2__) && !defined(__FMA__)
namespace perp::enclosure {

__attribute__((target("fma"))) Ends product_errors_of_fused(Ends a, Ends b, Ends p) {
  return Ends(_mm_fmsub_pd(a.both_, b.both_, p.both_));
}

namespace {

/// By the functions of the C library, one end after the other.
Ends product_errors_of_any(Ends a, Ends b, Ends p) {
  return {std::fma(a.lower(), b.lower(), -p.lower()), std::fma(a.upper(), b.upper(), -p.upper())};
}

/// Until this is initialized, which needs no order, the general one; both give the same numbers.
Ends (*chosen)(Ends, Ends, Ends) = product_errors_of_any;

const bool is_chosen = [] {
  if (__builtin_cpu_supports("fma") != 0) chosen = product_errors_of_fused;
  return true;
}();

}  // namespace

Ends (*const& product_errors)(Ends a, Ends b, Ends p) = chosen;

}  // namespace perp::enclosure

#endif

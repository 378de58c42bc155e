#include <doctest/doctest.h>
#include <cmath>
#include <random>

#include <perp/lcp/exact/arithmetic.hpp>
#include <perp/lcp/exact/double_double.hpp>

using namespace perp;

namespace {

/// What a sum of `count` terms of any sizes misses of the exact one, in units of its bound; two thirds of them cancel.
double missed(int count, std::mt19937& random) {
  std::uniform_real_distribution<double> mantissa(-1, 1);
  std::uniform_int_distribution<int> exponent(-30, 30);
  const auto number = [&] {
    const double high = std::ldexp(mantissa(random), exponent(random));
    return two_sum(high, std::ldexp(mantissa(random) * high, -54));
  };
  CompensatedSum sum;
  Rational exact = 0;
  double terms = 0;
  DoubleDouble a, b;
  for (int k = 0; k < count; ++k) {
    if (k % 3 == 1)
      a = -a;
    else
      a = number(), b = number();
    sum.add_product(a, b);
    exact += (Rational(a.high) + Rational(a.low)) * (Rational(b.high) + Rational(b.low));
    terms += std::abs(a.high * b.high);
  }
  const DoubleDouble value = sum.value();
  const Rational left = Rational(value.high) + Rational(value.low) - exact;
  return std::abs(static_cast<double>(left)) / (count * compensated_rounding(count) * terms);
}

}  // namespace

TEST_SUITE("lcp/exact/double_double") {
  TEST_CASE("a compensated sum of products misses the exact one by no more than its bound, however its terms cancel") {
    std::mt19937 random(1);
    for (const int count : {1, 3, 12, 59, 61, 400, 3000})
      for (int trial = 0; trial < 40; ++trial) {
        CAPTURE(count);
        CHECK(missed(count, random) <= 1);
      }
  }
}

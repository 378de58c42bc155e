#include <doctest/doctest.h>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <random>

#include <perp/core/interval/double_word.hpp>

using namespace perp;
using enclosure::DoubleWord;
using Rational = boost::multiprecision::cpp_rational;

namespace {

Rational value(const DoubleWord& a) { return Rational(a.high) + Rational(a.low); }

/// Random pairs of all sizes, close ones and opposite ones among them.
class Pairs {
 public:
  DoubleWord next() {
    const double high = uniform(1, 2) * (random_() % 2 == 0 ? 1 : -1) *
                        std::ldexp(1, static_cast<int>(random_() % 9) - 4);
    DoubleWord sum = enclosure::exact_sum(high, uniform(-1, 1) * std::ldexp(high, -53));
    if (random_() % 4 == 0)
      sum.error =
          uniform(0, 1) * std::ldexp(std::abs(high), -static_cast<int>(90 + random_() % 16));
    return sum;
  }
  DoubleWord near(const DoubleWord& a) {
    if (random_() % 3 != 0) return next();
    const double high = -a.high * (1 + std::ldexp(std::floor(uniform(-8, 8)), -52));
    return enclosure::exact_sum(high, uniform(-1, 1) * std::ldexp(high, -53));
  }
  /// A number that the pair may stand for.
  Rational member(const DoubleWord& a) {
    return value(a) + Rational(a.error) * Rational(std::floor(uniform(-4, 5))) / 4;
  }

 private:
  double uniform(double a, double b) {
    return std::uniform_real_distribution<double>(a, b)(random_);
  }
  std::mt19937_64 random_{3};
};

/// Is the exact result within the error?
bool holds(const DoubleWord& found, const Rational& exact) {
  return abs(value(found) - exact) <= Rational(found.error);
}

}  // namespace

TEST_SUITE("core/expression/double_word") {
  TEST_CASE("exact results of members lie within the error that is claimed") {
    Pairs pairs;
    bool sums = true, products = true, quotients = true, roots = true, normal = true, sharp = true;
    for (int k = 0; k < 40000; ++k) {
      const DoubleWord a = pairs.next(), b = pairs.near(a);
      const Rational x = pairs.member(a), y = pairs.member(b);
      const DoubleWord sum = a + b, product = a * b, quotient = a / b;
      sums = sums && holds(sum, x + y) && holds(a - b, x - y);
      products = products && holds(product, x * y);
      quotients = quotients && holds(quotient, x / y);
      const DoubleWord positive = a.high < 0 ? -a : a, root = sqrt(positive);
      // |√p − r| ≤ e where (r − e)² ≤ p ≤ (r + e)²
      const Rational p = a.high < 0 ? -x : x, low = value(root) - Rational(root.error),
                     high = value(root) + Rational(root.error);
      roots = roots && low * low <= p && p <= high * high;
      for (const DoubleWord& r : {sum, product, quotient, root})
        normal = normal && r.high + r.low == r.high;
      if (a.error == 0 && b.error == 0)
        sharp = sharp && product.error < 0x1p-100 * std::abs(product.high) &&
                quotient.error < 0x1p-100 * std::abs(quotient.high);
    }
    CHECK(sums);
    CHECK(products);
    CHECK(quotients);
    CHECK(roots);
    CHECK(normal);
    CHECK(sharp);
  }
}

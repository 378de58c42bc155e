#include <doctest/doctest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include <perp/core/base/rational.hpp>

using perp::Rational;
using Judge = boost::multiprecision::cpp_rational;

namespace {

/// A number of both kinds, of up to 60 bits over up to 60 bits.
struct Pair {
  Rational ours;
  Judge judge;
};

Pair drawn(std::mt19937_64& random) {
  const int wide = static_cast<int>(random() % 60);
  const long numerator = static_cast<long>(random() >> (63 - wide)) * (random() % 2 == 0 ? 1 : -1);
  const long denominator = 1 + static_cast<long>(random() >> (4 + random() % 58));
  return {Rational(numerator, denominator), Judge(numerator, denominator)};
}

}  // namespace

TEST_SUITE("core/rational") {
  TEST_CASE("sums, products, quotients and comparisons are those of another implementation") {
    std::mt19937_64 random(1);
    for (int k = 0; k < 20'000; ++k) {
      const Pair a = drawn(random), b = drawn(random);
      CHECK((a.ours + b.ours).str() == Judge(a.judge + b.judge).str());
      CHECK((a.ours - b.ours).str() == Judge(a.judge - b.judge).str());
      CHECK((a.ours * b.ours).str() == Judge(a.judge * b.judge).str());
      if (b.ours != 0) CHECK((a.ours / b.ours).str() == Judge(a.judge / b.judge).str());
      CHECK((a.ours < b.ours) == (a.judge < b.judge));
      CHECK((a.ours == b.ours) == (a.judge == b.judge));
      CHECK(a.ours.sign() == a.judge.sign());
      CHECK((-a.ours).str() == Judge(-a.judge).str());
      CHECK(abs(a.ours) == (a.ours < 0 ? -a.ours : a.ours));
    }
  }

  TEST_CASE("doubles are taken exactly and given back to the nearest, ties to even") {
    std::mt19937_64 random(2);
    for (int k = 0; k < 20'000; ++k) {
      const double value = std::ldexp(static_cast<double>(random() >> 11) * (k % 2 == 0 ? 1 : -1),
                                      static_cast<int>(random() % 2098) - 1126);
      if (!std::isfinite(value)) continue;
      const Rational exact(value);
      CHECK(to_double(exact) == value);
      const double next = std::nextafter(value, std::numeric_limits<double>::infinity());
      if (!std::isfinite(next) || std::abs(value) < std::numeric_limits<double>::min()) continue;
      const Rational half = (exact + Rational(next)) / 2;
      const double chosen = to_double(half);
      CHECK((chosen == value || chosen == next));
      int exponent = 0;
      CHECK(std::fmod(std::ldexp(std::frexp(chosen, &exponent), 53), 2) == 0);
      CHECK(to_double(half + ldexp(abs(half), -200)) == next);
    }
    CHECK(to_double(ldexp(Rational(1), 1024)) == std::numeric_limits<double>::infinity());
    CHECK(to_double(-ldexp(Rational(3), 5000)) == -std::numeric_limits<double>::infinity());
    CHECK(to_double(ldexp(Rational(1), -1075)) == 0);
    CHECK(to_double(ldexp(Rational(3), -1076)) == std::numeric_limits<double>::denorm_min());
  }

  TEST_CASE("what has no value is refused") {
    CHECK_THROWS_AS(Rational(1) / Rational(0), std::domain_error);
    CHECK_THROWS_AS(Rational(1, 0), std::domain_error);
    CHECK_THROWS_AS(Rational{HUGE_VAL}, std::domain_error);
    CHECK_THROWS_AS(Rational(std::nan("")), std::domain_error);
  }

  TEST_CASE("what was moved can be given a value again") {
    Rational a(3, 7), b = std::move(a);
    a = Rational(1, 2);
    CHECK(a + b == Rational(13, 14));
    Rational c = std::move(a);
    a = b;
    CHECK(a == b);
    CHECK(c == Rational(1, 2));
    const Rational& same = c;
    c = same;
    CHECK(c == Rational(1, 2));
  }

  TEST_CASE("a primitive direction has integers without a common divisor and the signs of before") {
    std::vector<Rational> direction{Rational(-3, 4), 0, Rational(9, 10), 6};
    make_primitive(direction);
    CHECK(direction == std::vector<Rational>{-5, 0, 6, 40});
    std::vector<Rational> nothing{0, 0};
    make_primitive(nothing);
    CHECK(nothing == std::vector<Rational>{0, 0});
  }

  TEST_CASE("integers count beyond any word") {
    perp::Integer product = 1;
    for (unsigned long k = 1; k <= 25; ++k) product *= k;
    CHECK(product.str() == "15511210043330985984000000");
    product += product;
    CHECK(product.str() == "31022420086661971968000000");
    CHECK(product > perp::Integer(1L << 62));
    const perp::Integer copy = product;
    CHECK(copy == product);
  }
}

#include <doctest/doctest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <perp/core/base/rational/integer_rows.hpp>
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

  TEST_CASE("chains of operations pass the size of words both ways without a trace") {
    // Numbers whose parts fit into words are kept in words; each is compared with another
    // implementation, and its digits must not tell how it came about.
    std::mt19937_64 random(3);
    constexpr long least = std::numeric_limits<long>::min(),
                   most = std::numeric_limits<long>::max();
    const std::vector<long> edges{
        least, least + 1, most, most - 1, 1L << 62, (1L << 62) + 1, (1L << 32) - 1, -(1L << 32),
        3,     2,         1,    0,        -1};
    Pair a{1, 1};
    std::size_t words = 0, longer = 0;
    for (int k = 0; k < 40'000; ++k) {
      const long edge = edges[random() % edges.size()];
      const Pair b = random() % 3 == 0 ? drawn(random) : Pair{edge, edge};
      switch (random() % 5) {
        case 0: a = {a.ours + b.ours, a.judge + b.judge}; break;
        case 1: a = {a.ours - b.ours, a.judge - b.judge}; break;
        case 2: a = {a.ours * b.ours, a.judge * b.judge}; break;
        case 3:
          if (b.judge != 0) a = {a.ours / b.ours, a.judge / b.judge};
          break;
        default: {
          const int shift = static_cast<int>(random() % 40);
          const Judge factor = Judge(1L << shift);
          a = random() % 2 == 0 ? Pair{ldexp(-a.ours, shift), -a.judge * factor}
                                : Pair{ldexp(-a.ours, -shift), -a.judge / factor};
        }
      }
      REQUIRE(a.ours.str() == a.judge.str());
      CHECK((a.ours < b.ours) == (a.judge < b.judge));
      CHECK((a.ours == b.ours) == (a.judge == b.judge));
      CHECK((a.ours == edge) == (a.judge == edge));
      CHECK((a.ours > edge) == (a.judge > edge));
      const Rational back = a.ours + b.ours - b.ours;
      CHECK(back == a.ours);
      CHECK(back.sign() == a.judge.sign());
      CHECK(static_cast<double>(a.ours) == doctest::Approx(static_cast<double>(a.judge)));
      (a.ours.str().size() < 18 ? words : longer) += 1;
      if (a.ours.str().size() > 80) a = {edge, edge};
    }
    CHECK(words > 1000);
    CHECK(longer > 1000);
  }

  TEST_CASE("rows of integers are eliminated alike in words and beyond them") {
    std::mt19937_64 random(4);
    for (int k = 0; k < 2'000; ++k) {
      std::vector<Rational> row, pivot;
      for (int j = 0; j < 5; ++j) {
        row.push_back(ldexp(drawn(random).ours, k % 3 == 0 ? 40 : 0));
        pivot.push_back(random() % 4 == 0 ? Rational() : drawn(random).ours);
      }
      if (pivot[2] == 0) continue;
      const std::vector<Rational> before = row;
      make_integers(row);
      make_integers(pivot);
      for (std::size_t j = 0; j < row.size(); ++j) {
        CHECK(row[j].str().find('/') == std::string::npos);
        CHECK(row[j] * before[0] == before[j] * row[0]);
      }
      const std::vector<Rational> whole = row;
      eliminate(row, pivot, 2);
      CHECK(row[2] == 0);
      // row = c (whole - whole[2]/pivot[2] pivot), with one c that is not 0
      const auto expected = [&](std::size_t j) {
        return whole[j] - whole[2] / pivot[2] * pivot[j];
      };
      for (const std::size_t j : {1UL, 3UL, 4UL}) {
        CHECK(row[j] * expected(0) == expected(j) * row[0]);
        CHECK((row[j] == 0) == (expected(j) == 0));
      }
      make_primitive(row);
      CHECK(row[3] * expected(0) == expected(3) * row[0]);
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

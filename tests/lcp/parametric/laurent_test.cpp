#include <doctest/doctest.h>
#include <random>

#include <perp/lcp/parametric/laurent.hpp>

using perp::Arithmetic;
using perp::Laurent;

namespace {

/// Sum of c_k h^(first + k) with small integer coefficients, some of them 0.
Laurent random_number(std::mt19937& engine) {
  std::uniform_int_distribution<int> coefficient(-3, 3), order(-2, 2);
  const int first = order(engine);
  Laurent sum;
  for (int k = 0; k < 3; ++k)
    sum += Laurent(first + k, static_cast<long double>(coefficient(engine)));
  return sum;
}

/// Value at a small h.
long double at(const Laurent& a, long double h) {
  long double sum = 0;
  for (int k = a.order(); k < a.order() + Laurent::terms; ++k)
    sum += a.coefficient(k) * std::pow(h, static_cast<long double>(k));
  return sum;
}

bool near(long double a, long double b) { return std::abs(a - b) <= 1e-14L * (1 + std::abs(b)); }

}  // namespace

TEST_SUITE("lcp/laurent") {
  TEST_CASE("sums, products, quotients and order are those of the values at a small h") {
    std::mt19937 engine(7);
    const long double h = 0x1p-10L;
    for (int k = 0; k < 3000; ++k) {
      const Laurent a = random_number(engine), b = random_number(engine);
      CHECK(near(at(a + b, h), at(a, h) + at(b, h)));
      CHECK(near(at(a - b, h), at(a, h) - at(b, h)));
      CHECK(near(at(a * b, h) * h * h * h * h, at(a, h) * at(b, h) * h * h * h * h));
      CHECK((a < b) == (at(a, h) < at(b, h)));
      CHECK((a == b) == (at(a, h) == at(b, h)));
      if (b.is_zero()) continue;
      CHECK(near(at(a / b, h) * h * h * h * h, at(a, h) / at(b, h) * h * h * h * h));
      CHECK(a / b * b == a);
    }
  }

  TEST_CASE("h is positive and below every positive number") {
    const Laurent h(1, 1.0L);
    CHECK(h > 0);
    CHECK(h < 1e-300);
    CHECK(h * h < h);
    CHECK(1 / h > 1e300);
    CHECK(-1 / h < -1e300);
    CHECK((1 / h).order() == -1);
    CHECK((h - h).is_zero());
    CHECK((h - h).order() == 0);
  }

  TEST_CASE("what rounding of the data leaves of a cancellation is 0") {
    CHECK((Laurent(0.1) + Laurent(0.2) - Laurent(0.3)).is_zero());
    const Laurent h(1, 1.0L);
    const Laurent rest = Laurent(0.1) + Laurent(0.2) * (1 + h) - Laurent(0.3);
    CHECK(rest.order() == 1);
    CHECK(rest.coefficient(1) == doctest::Approx(0.2));
    CHECK_FALSE((Laurent(1) - Laurent(1 + 1e-12)).is_zero());
  }

  TEST_CASE("a geometric series") {
    const Laurent quotient = 1 / (1 - Laurent(1, 0.5L));
    for (int k = 0; k < Laurent::terms; ++k)
      CHECK(quotient.coefficient(k) == std::pow(0.5L, static_cast<long double>(k)));
  }

  TEST_CASE("smallness is judged power by power") {
    using A = Arithmetic<Laurent>;
    const Laurent h(1, 1.0L);
    CHECK_FALSE(A::vanishes(h, 1));  // small beside 1, but no rounding
    CHECK(A::vanishes(Laurent(1e-14) * h, 1 + h));
    CHECK_FALSE(A::vanishes(Laurent(1e-14), h));
    std::vector<Laurent> direction{2 * h, -4 * h * h, 0};
    A::normalise(direction);
    CHECK(direction[0] == 1);
    CHECK(direction[1] == -2 * h);
  }
}

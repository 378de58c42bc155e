#include <doctest/doctest.h>
#include <cmath>
#include <random>

#include <perp/lcp/exact/polynomials/rational_function.hpp>

using perp::Arithmetic;
using perp::Rational;
using perp::RationalFunction;

namespace {

/// Quotient of sums of three terms with small integer coefficients, some of them 0.
struct RandomFunction {
  std::vector<int> above, below;
  int order;

  explicit RandomFunction(std::mt19937& engine) {
    std::uniform_int_distribution<int> coefficient(-3, 3);
    order = std::uniform_int_distribution<int>(-2, 2)(engine);
    for (int k = 0; k < 3; ++k) {
      above.push_back(coefficient(engine));
      below.push_back(k == 0 ? 1 : coefficient(engine));
    }
  }

  [[nodiscard]] RationalFunction function() const {
    RationalFunction a, b;
    for (int k = 0; k < 3; ++k) {
      a += RationalFunction(order + k, above[static_cast<std::size_t>(k)]);
      b += RationalFunction(k, below[static_cast<std::size_t>(k)]);
    }
    return a / b;
  }
  /// At √h = root.
  [[nodiscard]] Rational at(const Rational& root) const {
    Rational a, b, power = 1;
    for (std::size_t k = 0; k < 3; ++k) {
      a += above[k] * power;
      b += below[k] * power;
      power *= root;
    }
    Rational value = a / b;
    for (int k = 0; k < std::abs(order); ++k) value = order > 0 ? value * root : value / root;
    return value;
  }
};

}  // namespace

TEST_SUITE("lcp/rational_function") {
  TEST_CASE(
      "a field: sums, products and quotients of equal numbers are equal, whatever the way to "
      "them") {
    std::mt19937 engine(7);
    for (int k = 0; k < 2000; ++k) {
      const RationalFunction a = RandomFunction(engine).function(),
                             b = RandomFunction(engine).function(),
                             c = RandomFunction(engine).function();
      CHECK(a + b - b == a);
      CHECK((a + b) * c == a * c + b * c);
      CHECK((a - a).is_zero());
      if (b.is_zero()) continue;
      CHECK(a / b * b == a);
      CHECK((a + c) / b == a / b + c / b);
    }
  }

  TEST_CASE("the order is that of the values at a small h") {
    std::mt19937 engine(8);
    const Rational root(1, 1L << 20);
    for (int k = 0; k < 2000; ++k) {
      const RandomFunction left(engine), right(engine);
      const RationalFunction a = left.function(), b = right.function();
      const Rational difference = left.at(root) - right.at(root);
      CHECK((a - b).sign() == difference.sign());
      CHECK((a < b) == (difference < 0));
      CHECK((a == b) == (difference == 0));
    }
  }

  TEST_CASE("h is positive and below every positive number, 1/√h between all numbers and 1/h") {
    const RationalFunction h(2, 1), bound(-1, 1);
    CHECK(h > 0);
    CHECK(h < 1e-300);
    CHECK(h * h < h);
    CHECK(bound > 1e300);
    CHECK(bound < 1e-300 / h);
    CHECK(-1 / h < -1e300);
    CHECK((1 / h).order() == -2);
    CHECK((h - h).order() == 0);
  }

  TEST_CASE("nothing is lost beside large numbers") {
    const RationalFunction h(2, 1), large(1e300);
    CHECK(large + h - large == h);
    CHECK((large + 1e-300 * h) / large - 1 == 1e-300 * h / large);
    CHECK_FALSE((RationalFunction(0.1) + 0.2 - 0.3).is_zero());  // these doubles do not add up
    CHECK(RationalFunction(0.1) + 0.2 < 0.3 + RationalFunction(0x1p-54) + h);
  }

  TEST_CASE("a geometric series, and a quotient in lowest terms") {
    const RationalFunction root(1, 1), quotient = 1 / (1 - root / 2);
    for (int k = 0; k < 20; ++k) CHECK(quotient.coefficient(k) == Rational(1, 1L << k));
    CHECK(quotient.coefficient(-1) == 0);
    CHECK((1 - root * root) / (1 - root) == 1 + root);
    CHECK(((1 - root * root) / (1 - root)).coefficient(2) == 0);
  }

  TEST_CASE("a direction is divided by the leading term of its largest entry") {
    const RationalFunction h(2, 1);
    std::vector<RationalFunction> direction{2 * h, -4 * h * h, 0};
    Arithmetic<RationalFunction>::normalise(direction);
    CHECK(direction[0] == 1);
    CHECK(direction[1] == -2 * h);
    CHECK(direction[2].is_zero());
  }
}

#include <doctest/doctest.h>

#include <perp/core/base/error.hpp>
#include <perp/core/expression/expression.hpp>
#include <perp/core/expression/fraction/fraction.hpp>

namespace {

using perp::are_equal;
using perp::Fraction;
using perp::FractionReader;
using perp::Rational;
using perp::Tape;

/// Are the two formulas of x, y, p one function, with this p?
bool are_one(const std::string& a, const std::string& b, std::optional<Rational> p = {}) {
  perp::Scope scope;
  scope.names = {"x", "y", "p"};
  scope.variables = 3;
  Tape tape;
  const int left = perp::parse_expression(a, scope, tape);
  const int right = perp::parse_expression(b, scope, tape);
  FractionReader reader(tape, {std::nullopt, std::nullopt, p});
  const auto one = reader.read(left), other = reader.read(right);
  return one && other && are_equal(*one, *other);
}

}  // namespace

TEST_SUITE("core/expression/fraction") {
  TEST_CASE("quotients of polynomials are one function where their products are") {
    CHECK(are_one("x/y - p", "(x - p*y)/y"));
    CHECK(are_one("(x + y)^2/p", "x^2/p + (2*x*y + y*y)/p"));
    CHECK(are_one("x/p - 1", "(x - p)/p"));
    CHECK(are_one("1/(1/x + 1/y)", "x*y/(x + y)"));
    CHECK(are_one("sin(x)*y/y", "sin(x)"));
    CHECK_FALSE(are_one("x/y - p", "x - p*y"));
    CHECK_FALSE(are_one("x", "-x"));
    CHECK_FALSE(are_one("sin(x)", "sin(y)"));
    CHECK_FALSE(are_one("x^2 - y^2", "(x - y)^2"));
  }

  TEST_CASE("numbers that are given are told from each other without rounding") {
    const Rational tenth(1, 10);
    CHECK(are_one("x/p - 1", "10*x - 1", tenth));
    CHECK_FALSE(are_one("x/p - 1", "10*x - 1", Rational(0.1)));
    CHECK_FALSE(are_one("x/p - 1", "10*x - 1"));
    CHECK(are_one("x^p", "x*x", Rational(2)));
  }

  TEST_CASE("nothing is said of what divides by 0 or is too long") {
    CHECK_FALSE(are_one("x/(y - y)", "x/(y - y)"));
    CHECK_FALSE(are_one("(1 + x + y + p)^16", "(1 + x + y + p)^16"));
  }
}

#include <doctest/doctest.h>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <perp/core/dcs_evaluator.hpp>
#include <perp/core/expression/differentiate.hpp>
#include <perp/core/expression/expression.hpp>
#include <perp/core/tape/running_error.hpp>

#include <perp/tests/core/digits50.hpp>
#include <perp/tests/core/random_text.hpp>

using namespace perp;
using perp::test::Digits50;

namespace {

/// How lines of tapes stand to the same lines with 50 digits.
struct Comparison {
  int compared = 0;  ///< finite, with a finite bound
  int tight = 0;     ///< with a bound below 1e-12 of the value
  int refused = 0;
};

/// A line in doubles with bounds, and with 50 digits at inputs that are off by shares of their
/// errors between -1 and 1: within the bounds?
void compare(const Tape& tape, int line, const std::vector<double>& inputs,
             const std::vector<double>& errors, std::mt19937& random, Comparison& count) {
  const auto size = static_cast<std::size_t>(tape.size()), at = static_cast<std::size_t>(line);
  std::vector<double> plain(size);
  std::vector<RunningError> bounded(size), known;
  std::vector<Digits50> exact(size), moved;
  std::uniform_int_distribution<int> place(-2, 2);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    known.emplace_back(inputs[i], errors[i]);
    moved.push_back(Digits50(inputs[i]) + Digits50(errors[i]) * place(random) / 2);
  }
  tape.evaluate(std::span<const double>(inputs), std::span(plain));
  tape.evaluate(std::span<const RunningError>(known), std::span(bounded));
  tape.evaluate(std::span<const Digits50>(moved), std::span(exact));
  const RunningError& found = bounded[at];
  if (std::isnan(plain[at]))
    CHECK(std::isnan(found.value));
  else
    CHECK(found.value == plain[at]);
  if (!std::isfinite(found.error) || !boost::multiprecision::isfinite(exact[at])) {
    ++count.refused;
    return;
  }
  const Digits50 off = ScalarTraits<Digits50>::abs(exact[at] - Digits50(found.value));
  CAPTURE(found.value);
  CAPTURE(found.error);
  CHECK(off <= Digits50(found.error));
  ++count.compared;
  count.tight += found.error <= 1e-12 * std::abs(found.value);
}

/// Random texts and their derivatives, the inputs known to within `share` of themselves.
Comparison compare_random_texts(double share, unsigned seeds) {
  std::mt19937 random(9);
  std::uniform_real_distribution<double> number(-2, 2);
  Comparison count;
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    const std::string text = test::RandomText(seed).make(4);
    CAPTURE(text);
    const Expression f(text, test::random_scope());
    std::vector<double> inputs(4), errors(4);
    for (std::size_t i = 0; i < 4; ++i) {
      inputs[i] = seed % 7 == i ? 0 : number(random);
      errors[i] = share * (seed % 5 == i ? 1 : std::abs(inputs[i]));
    }
    compare(f.tape(), f.line(), inputs, errors, random, count);
    Tape tape = f.tape();
    const int line = f.line();
    for (const Derivative& derivative : differentiate(tape, std::span(&line, 1), 0, 4))
      compare(tape, derivative.line, inputs, errors, random, count);
  }
  return count;
}

RunningError value_of(const std::string& text, double x, double error) {
  const Expression f(text, Scope{{"x"}, {}});
  const std::vector<RunningError> inputs{RunningError(x, error)};
  return f.evaluate(std::span<const RunningError>(inputs));
}

}  // namespace

TEST_SUITE("core/running_error") {
  TEST_CASE("50 digits stay within the bounds for exact inputs, and these are near rounding") {
    const Comparison count = compare_random_texts(0, 2500);
    CHECK(count.compared > 3000);
    CHECK(count.tight > count.compared * 3 / 4);
  }

  TEST_CASE(
      "50 digits stay within the bounds for inputs that are off by any share of their errors") {
    for (const double share : {1e-16, 1e-9, 1e-3, 0.1, 0.7}) {
      CAPTURE(share);
      CHECK(compare_random_texts(share, 600).compared > 400);
    }
  }

  TEST_CASE("half a unit in the last place is half the distance to the next double") {
    std::mt19937_64 random(5);
    for (int k = 0; k < 10'000; ++k) {
      const double value = std::bit_cast<double>(random()), size = std::abs(value);
      if (std::isfinite(value)) CHECK(half_ulp(value) == (std::nextafter(size, inf) - size) / 2);
    }
    CHECK(half_ulp(0) == 0);
    CHECK(half_ulp(1) == 0x1p-53);
    CHECK(half_ulp(-std::numeric_limits<double>::max()) == inf);
    CHECK(std::isnan(half_ulp(inf)));
  }

  TEST_CASE("powers of two, zeros, signs and choices bring no error") {
    const double x = 0.1, error = 3e-17;
    for (const char* text : {"4*x", "x/8", "x + 0", "0 - x", "abs(x)", "x^1", "min(x, 1)",
                             "max(-x, 2*x)", "x*(-0.5)"}) {
      CAPTURE(text);
      const RunningError exact = value_of(text, x, 0);
      CHECK(exact.error == 0);
      const RunningError passed = value_of(text, x, error);
      CHECK(passed.error <= std::abs(passed.value / x) * error * (1 + 1e-14));
    }
    CHECK(value_of("sign(x)", x, error).error == 0);
    CHECK(value_of("x - x", x, 0).value == 0);
    // A number that is 0 within its error has no digits to lose.
    CHECK(value_of("4*x", 0, error).error == 4 * error);
    CHECK(value_of("x*(-0.5)", 0, error).error == error / 2);
    CHECK(value_of("x/8", 0, error).error == error / 8);
    CHECK(value_of("x*x", 0, 0x1p-600).error > 0);
  }

  TEST_CASE("a root at 0, an arc at 1 and an undecided sign have finite bounds") {
    CHECK(value_of("sqrt(x)", 0, 1e-16).error == doctest::Approx(1e-8));
    CHECK(value_of("sqrt(abs(x))", -1e-20, 1e-16).error == doctest::Approx(1e-8).epsilon(0.01));
    CHECK(value_of("asin(x)", 1, 1e-16).error < 3e-8);
    CHECK(value_of("acos(x)", -1, 1e-16).error < 3e-8);
    CHECK(value_of("sign(x)", 1e-17, 1e-16).error == 2);
    CHECK(value_of("x^0.5", 0, 1e-16).error == doctest::Approx(1e-8));
  }

  TEST_CASE("an angle has no bound on its cut, whatever sign its zero has") {
    const auto angle = [](double y, double y_error, double x, double x_error) {
      return running_error::atan2(RunningError(y, y_error), RunningError(x, x_error));
    };
    for (const double zero : {0.0, -0.0})
      for (const double x : {-1.0, -1e-300, 0.0, 1e-17}) {
        CAPTURE(x);
        CHECK(std::isinf(angle(zero, 0, x, 1e-16).error));
        CHECK(std::isinf(angle(zero, 1e-20, x, 1e-16).error));
      }
    CHECK(std::isinf(angle(0, 0, -1, 0).error));
    CHECK(std::isinf(angle(1e-17, 1e-16, -1, 0).error));
    CHECK(angle(0, 0, 1, 1e-16).error == 0);
    CHECK(angle(0, 1e-16, 1, 0).error < 2e-16);
    CHECK(angle(1e-15, 1e-16, -1, 1e-16).error < 2e-15);
    CHECK(angle(-1e-300, 0, -1, 0).error < 1e-14);
  }

  TEST_CASE("where nothing bounds a value its error is infinite and decides nothing") {
    for (const char* text : {"1/x", "log(x)", "x^(-1)", "1/(x*x)", "tan(x + pi/2)"}) {
      CAPTURE(text);
      const RunningError lost = value_of(text, 1e-17, 1e-16);
      CHECK(std::isinf(lost.error));
      CHECK(decided_sign(lost) == 0);
      CHECK_FALSE(vanishes(lost, 8));
    }
    for (const char* text : {"sin(x)", "cos(x)"}) {
      CHECK(std::isinf(value_of(text, 1e18, 64).error));
      CHECK(value_of(text, 1e18, 0).error <= 1e-15);
    }
    const RunningError overflow = value_of("exp(x)", 1000, 0);
    CHECK(decided_sign(overflow) == 0);
    CHECK_FALSE(vanishes(value_of("log(x)", -1, 0), 8));
    CHECK(std::isinf(value_of("log(x)", -1, 0).error));
  }

  TEST_CASE("powers of two as units scale the bounds bit by bit") {
    const Expression f("x*y - 3*y^2 + x/y - abs(x)*min(x, y)", Scope{{"x", "y"}, {}});
    const Expression g("x*y/(s*s) - 3*(y/s)^2 + x/y - abs(x)/s*min(x, y)/s",
                       Scope{{"x", "y", "s"}, {}});
    std::mt19937 random(3);
    std::uniform_real_distribution<double> number(-2, 2);
    for (int k = 0; k < 200; ++k) {
      const double x = number(random), y = number(random), s = std::ldexp(1, k % 61 - 30);
      const std::vector<RunningError> one{RunningError(x, 1e-15), RunningError(y, 1e-16)};
      const std::vector<RunningError> other{RunningError(x * s, 1e-15 * s),
                                            RunningError(y * s, 1e-16 * s), RunningError(s)};
      const RunningError a = f.evaluate(std::span<const RunningError>(one));
      const RunningError b = g.evaluate(std::span<const RunningError>(other));
      CHECK(a.value == b.value);
      CHECK(a.error == b.error);
    }
  }

  TEST_CASE("the evaluator bounds F, G and conditions, folded parameters included") {
    Dcs system;  // 0 = ẋ − (p/3) x, w = x − 1/p, reset at x² − 2
    system.parameters = {0.1};
    Tape& tape = system.tape;
    const int x = tape.input(2), p = tape.input(4);
    const int slope = tape.apply(Operation::divide, p, tape.constant(3));
    system.F = {
        tape.apply(Operation::subtract, tape.input(1), tape.apply(Operation::multiply, slope, x))};
    system.G = {
        tape.apply(Operation::subtract, x, tape.apply(Operation::divide, tape.constant(1), p))};
    system.laws = {complementarity()};
    Reset reset;
    reset.condition =
        tape.apply(Operation::subtract, tape.apply(Operation::multiply, x, x), tape.constant(2));
    system.resets = {reset};
    DcsEvaluator evaluator(system);
    const std::vector<double> z{0, 0.7, 1.9, 0.3}, z_error{0, 1e-17, 2e-16, 0};
    std::vector<double> plain(2), rows(2), errors(2);
    evaluator.evaluate(z.data(), plain.data());
    evaluator.evaluate_bounded(z.data(), z_error.data(), rows.data(), errors.data());
    CHECK(rows == plain);
    const Digits50 P(0.1), X(1.9), off(2e-16);
    CHECK(ScalarTraits<Digits50>::abs(Digits50(0.7) + Digits50(1e-17) - P / 3 * (X - off) -
                                      rows[0]) <= errors[0]);
    CHECK(ScalarTraits<Digits50>::abs(X + off - 1 / P - rows[1]) <= errors[1]);
    CHECK(errors[0] < 1e-15);
    CHECK(errors[1] < 5e-15);
    const RunningError condition = evaluator.condition_bounded(0, z.data(), z_error.data());
    CHECK(condition.value == evaluator.condition(0, z.data()));
    CHECK(ScalarTraits<Digits50>::abs((X + off) * (X + off) - 2 - Digits50(condition.value)) <=
          condition.error);
    CHECK(decided_sign(condition) == 1);
  }
}

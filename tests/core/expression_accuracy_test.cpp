#include <doctest/doctest.h>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <perp/core/expression/differentiate.hpp>
#include <perp/core/expression/expression.hpp>

#include <perp/tests/core/bounded.hpp>
#include <perp/tests/core/digits50.hpp>
#include <perp/tests/core/random_text.hpp>

using namespace perp;
using perp::test::Bounded;
using perp::test::Digits50;

namespace {

/// How a line computed in doubles stands to the same line computed with 50 digits.
struct Comparison {
  int compared = 0;  ///< within the bound
  int refused = 0;   ///< not finite: outside of a domain, or too large
  int doubtful = 0;  ///< cancellation ate so many digits that a first-order bound says nothing
};

/// Are both finite and within the bound?
bool compare(const Tape& tape, int line, const std::vector<double>& inputs, Comparison& count) {
  const std::vector<Bounded> bounded(inputs.begin(), inputs.end());
  const std::vector<Digits50> exact(inputs.begin(), inputs.end());
  const auto size = static_cast<std::size_t>(tape.size());
  std::vector<double> plain_values(size);
  std::vector<Bounded> bounded_values(size, Bounded(0));
  std::vector<Digits50> exact_values(size);
  tape.evaluate(std::span<const double>(inputs), std::span(plain_values));
  tape.evaluate(std::span<const Bounded>(bounded), std::span(bounded_values));
  tape.evaluate(std::span<const Digits50>(exact), std::span(exact_values));
  const auto at = static_cast<std::size_t>(line);
  if (!std::isfinite(plain_values[at]) || !std::isfinite(bounded_values[at].error) ||
      !boost::multiprecision::isfinite(exact_values[at])) {
    ++count.refused;
    return false;
  }
  CHECK(bounded_values[at].value == plain_values[at]);
  if (bounded_values[at].doubtful) {
    ++count.doubtful;
    return false;
  }
  const Digits50 error = exact_values[at] - Digits50(plain_values[at]);
  CHECK(static_cast<double>(ScalarTraits<Digits50>::abs(error)) <= 1.01 * bounded_values[at].error);
  ++count.compared;
  return true;
}

}  // namespace

TEST_SUITE("core/expression") {
  TEST_CASE("a thousand random expressions agree with 50 digits to 4 ulp an operation") {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> number(-2, 2);
    Comparison values;
    for (unsigned seed = 1; seed <= 1000; ++seed) {
      const std::string text = test::RandomText(seed).make(4);
      CAPTURE(text);
      const Expression f(text, test::random_scope());
      std::vector<double> inputs(4);
      for (double& input : inputs) input = number(random);
      compare(f.tape(), f.line(), inputs, values);
    }
    CHECK(values.compared + values.refused + values.doubtful == 1000);
    CHECK(values.compared > 600);
  }

  TEST_CASE("their derivatives too, and they are those of differences taken with 50 digits") {
    std::mt19937 random(8);
    std::uniform_real_distribution<double> number(-2, 2);
    Comparison derivatives;
    int confirmed = 0;
    for (unsigned seed = 1; seed <= 1000; ++seed) {
      const std::string text = test::RandomText(seed).make(4);
      CAPTURE(text);
      const Expression f(text, test::random_scope());
      std::vector<double> inputs(4);
      for (double& input : inputs) input = number(random);
      Tape tape = f.tape();
      const int line = f.line();
      for (const Derivative& derivative : differentiate(tape, std::span(&line, 1), 0, 4)) {
        if (!compare(tape, derivative.line, inputs, derivatives)) continue;
        // (f(x + h) - f(x - h)) / 2h with an error of h²
        const Digits50 h("1e-18");
        const auto at = [&](const Digits50& shift) {
          std::vector<Digits50> moved(inputs.begin(), inputs.end());
          moved[static_cast<std::size_t>(derivative.input)] += shift;
          return f.evaluate(std::span<const Digits50>(moved));
        };
        const Digits50 slope = (at(h) - at(-h)) / (2 * h);
        const Digits50 coarse = (at(2 * h) - at(-2 * h)) / (4 * h);
        const std::vector<Digits50> exact(inputs.begin(), inputs.end());
        std::vector<Digits50> values(static_cast<std::size_t>(tape.size()));
        tape.evaluate(std::span<const Digits50>(exact), std::span(values));
        const Digits50 found = values[static_cast<std::size_t>(derivative.line)];
        const Digits50 size = 1 + ScalarTraits<Digits50>::abs(found);
        if (!boost::multiprecision::isfinite(found) || !boost::multiprecision::isfinite(slope) ||
            !(ScalarTraits<Digits50>::abs(slope - coarse) < Digits50("1e-20") * size) ||
            ScalarTraits<Digits50>::abs(at(0)) > 1000 * size)
          continue;  // next to a corner, or the difference cancels too many digits
        CHECK(static_cast<double>(ScalarTraits<Digits50>::abs(slope - found) / size) < 1e-18);
        ++confirmed;
      }
    }
    CHECK(derivatives.compared > 600);
    CHECK(confirmed > 600);
  }
}

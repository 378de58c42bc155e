#include <doctest/doctest.h>
#include <cmath>
#include <random>
#include <span>
#include <vector>

#include <perp/core/expression/sign_of_formula.hpp>

using namespace perp;

TEST_SUITE("core/expression/sign_of_formula") {
  TEST_CASE("sums and products of exponentials, squares and numbers have a sign by their form") {
    Tape tape;
    const int x = tape.input(0), y = tape.input(1);
    const auto number = [&](double value) { return tape.constant(value); };
    const auto of = [&](Operation operation, int a, int b = -1) { return tape.apply(operation, a, b); };
    const int grows = of(Operation::exp, x), square = of(Operation::power, y, number(2)), product = of(Operation::multiply, y, y);
    CHECK(vanishes_nowhere(tape, grows));
    CHECK(vanishes_nowhere(tape, of(Operation::multiply, number(-3e-200), grows)));
    CHECK(sign_of_formula(tape, of(Operation::multiply, number(-3), grows)) == FormulaSign::negative);
    CHECK(vanishes_nowhere(tape, of(Operation::add, square, grows)));
    CHECK(sign_of_formula(tape, of(Operation::subtract, of(Operation::negate, product), number(1))) == FormulaSign::negative);
    CHECK(vanishes_nowhere(tape, of(Operation::divide, number(2), of(Operation::cosh, y))));
    CHECK(sign_of_formula(tape, square) == FormulaSign::nonnegative);
    for (const int line : {x, square, product, of(Operation::subtract, grows, number(1)), of(Operation::add, x, number(1)), of(Operation::abs, x),
                           of(Operation::multiply, x, grows), of(Operation::power, x, number(3)), of(Operation::divide, grows, square)})
      CHECK_FALSE(vanishes_nowhere(tape, line));
    CHECK(is_sum_of_exponentials(tape, of(Operation::divide, of(Operation::add, grows, number(3)), number(0.025))));
    CHECK_FALSE(is_sum_of_exponentials(tape, of(Operation::divide, number(1), of(Operation::add, number(1), square))));
    CHECK_FALSE(is_sum_of_exponentials(tape, of(Operation::subtract, grows, number(1))));
  }

  TEST_CASE("signs by form are those of values, on random formulas") {
    std::mt19937 engine(5);
    const std::vector<Operation> operations{Operation::add, Operation::subtract, Operation::multiply, Operation::divide, Operation::negate,
                                            Operation::exp, Operation::cosh, Operation::abs, Operation::sqrt, Operation::power};
    int decided = 0;
    for (int k = 0; k < 2000; ++k) {
      Tape tape;
      std::vector<int> lines{tape.input(0), tape.constant(2), tape.constant(-0.5), tape.constant(0)};
      const auto any = [&] { return lines[engine() % lines.size()]; };
      for (int i = 0; i < 8; ++i) {
        const Operation operation = operations[engine() % operations.size()];
        const bool has_two = operation == Operation::add || operation == Operation::subtract || operation == Operation::multiply ||
                             operation == Operation::divide || operation == Operation::power;
        lines.push_back(tape.apply(operation, any(), !has_two ? -1 : operation == Operation::power ? tape.constant(static_cast<double>(engine() % 7) - 3) : any()));
      }
      for (const double x : {-1.5, -0.25, 0.0, 0.75, 2.0}) {
        std::vector<double> values(static_cast<std::size_t>(tape.size()));
        tape.evaluate(std::span<const double>(&x, 1), std::span(values));
        for (const int line : lines) {
          const double value = values[static_cast<std::size_t>(line)];
          if (!std::isfinite(value)) continue;
          CAPTURE(k);
          CAPTURE(x);
          // exp of what is large and negative is 0 in doubles alone
          switch (sign_of_formula(tape, line)) {
            case FormulaSign::unknown: continue;
            case FormulaSign::positive:
            case FormulaSign::nonnegative: CHECK(value >= 0); break;
            case FormulaSign::negative:
            case FormulaSign::nonpositive: CHECK(value <= 0); break;
          }
          ++decided;
        }
      }
    }
    CHECK(decided > 10'000);
  }
}

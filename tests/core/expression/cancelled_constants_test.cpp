#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

#include <perp/core/expression/rewriting/cancelled_constants.hpp>

using namespace perp;

namespace {

/// Inputs x, y | p, q.
struct Lines {
  Tape tape{};
  int x = tape.input(0), y = tape.input(1), p = tape.input(2), q = tape.input(3), one = tape.constant(1);

  int add(int a, int b) { return tape.apply(Operation::add, a, b); }
  int subtract(int a, int b) { return tape.apply(Operation::subtract, a, b); }
  int multiply(int a, int b) { return tape.apply(Operation::multiply, a, b); }
  int divide(int a, int b) { return tape.apply(Operation::divide, a, b); }
  int exp(int a) { return tape.apply(Operation::exp, a); }
  /// p (exp(a) − 1)
  int diode(int a, int current) { return multiply(current, subtract(exp(a), one)); }

  double value(int line, double at_x, double at_y, double at_p, double at_q) const {
    std::vector<double> values(static_cast<std::size_t>(tape.size()));
    const std::vector<double> inputs{at_x, at_y, at_p, at_q};
    tape.evaluate<double>(inputs, values);
    return values[static_cast<std::size_t>(line)];
  }
};

}  // namespace

TEST_SUITE("core/cancelled_constants") {
  TEST_CASE("two diodes in series have a current that exponentials below the rounding of 1 tell") {
    Lines l;
    const int row = l.subtract(l.diode(l.x, l.p), l.diode(l.y, l.p));
    CancelledConstants cancelled(l.tape, 2);
    const int better = cancelled(row);
    REQUIRE(better != row);
    CHECK(l.value(row, -100, -101, 1e-9, 0) == 0);
    CHECK(l.value(better, -100, -101, 1e-9, 0) == doctest::Approx(1e-9 * (std::exp(-100.0) - std::exp(-101.0))).epsilon(1e-14));
  }

  TEST_CASE("constants in quotients, in products of parameters in any order and in nested sums cancel") {
    Lines l;
    CancelledConstants cancelled(l.tape, 2);
    const int pq = l.multiply(l.p, l.subtract(l.divide(l.exp(l.x), l.q), l.divide(l.one, l.q)));
    const int qp = l.divide(l.multiply(l.subtract(l.exp(l.y), l.one), l.p), l.q);
    const int better = cancelled(l.subtract(pq, qp));
    CHECK(l.value(better, -100, -101, 3, 7) == doctest::Approx(3.0 / 7 * (std::exp(-100.0) - std::exp(-101.0))).epsilon(1e-14));
    const int nested = l.add(l.subtract(l.x, l.one), l.subtract(l.one, l.subtract(l.p, l.p)));
    CHECK(cancelled(nested) == l.x);
    CHECK(l.tape[cancelled(l.subtract(l.p, l.p))].value == 0);
  }

  TEST_CASE("sums in which nothing cancels stay the lines they are") {
    Lines l;
    CancelledConstants cancelled(l.tape, 2);
    for (const int row : {l.add(l.diode(l.x, l.p), l.diode(l.y, l.p)), l.subtract(l.diode(l.x, l.p), l.diode(l.y, l.q)),
                          l.multiply(l.subtract(l.x, l.one), l.add(l.y, l.one)), l.subtract(l.x, l.x)})
      CHECK(cancelled(row) == row);
  }

  TEST_CASE("sums of many terms, and terms that are in a sum 2^50 times, cost what their lines cost") {
    Lines l;
    CancelledConstants cancelled(l.tape, 2);
    int doubled = l.subtract(l.exp(l.x), l.one), long_sum = l.y;
    for (int k = 0; k < 50; ++k) doubled = l.add(doubled, doubled);
    for (int k = 0; k < 100000; ++k) long_sum = l.add(long_sum, l.multiply(l.tape.constant(k), l.subtract(l.x, l.p)));
    CHECK(cancelled(doubled) == doubled);
    CHECK(cancelled(long_sum) == long_sum);
    const int better = cancelled(l.add(doubled, l.tape.constant(1)));
    CHECK(l.value(better, 0, 0, 0, 0) == 1);
    CHECK(cancelled(l.add(long_sum, l.multiply(l.tape.constant(7), l.p))) != long_sum);
  }

  TEST_CASE("random sums keep their value") {
    std::mt19937 random(2);
    std::uniform_int_distribution<int> choice(0, 5), pick(0, 1000);
    Lines l;
    CancelledConstants cancelled(l.tape, 2);
    int rewritten = 0;
    for (int run = 0; run < 2000; ++run) {
      std::vector<int> lines{l.x, l.y, l.p, l.q, l.one, l.exp(l.x)};
      const auto any = [&] { return lines[static_cast<std::size_t>(pick(random)) % lines.size()]; };
      for (int k = 0; k < 8; ++k) {
        const int a = any(), b = any();
        switch (choice(random)) {
          case 0: lines.push_back(l.multiply(a, b)); break;
          case 1: lines.push_back(l.divide(a, b == l.x || b == l.y ? l.q : l.p)); break;
          case 2:
          case 3: lines.push_back(l.add(a, b)); break;
          default: lines.push_back(l.subtract(a, b));
        }
      }
      const int row = lines.back(), better = cancelled(row);
      rewritten += better != row ? 1 : 0;
      // Powers of two: sums are exact.
      CHECK(l.value(better, 0, 3, 2, 4) == l.value(row, 0, 3, 2, 4));
    }
    CHECK(rewritten > 50);
  }
}

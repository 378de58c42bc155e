#include <doctest/doctest.h>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include <perp/core/base/types.hpp>
#include <perp/core/expression/expression.hpp>
#include <perp/core/tape/machine_code.hpp>
#include <perp/tests/allocations.hpp>
#include <perp/tests/core/random_text.hpp>

using namespace perp;

namespace {

bool same_bits(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

}  // namespace

TEST_SUITE("core/machine_code") {
  TEST_CASE("code and tape give the same results bit by bit") {
    const std::vector<std::vector<double>> points{
        {2, -3, 0.5, 1.25}, {-0.0, 0.0, 1, -1}, {1e300, -1e-300, 7, 0.3}, {inf, perp::nan, 2, -2}};
    for (unsigned seed = 1; seed <= 400; ++seed) {
      CAPTURE(seed);
      Tape tape;
      std::vector<int> outputs;  // several expressions on one tape share their lines
      for (unsigned k = 0; k < 5; ++k)
        outputs.push_back(parse_expression(test::RandomText(100 * seed + k).make(4),
                                           test::random_scope(), tape));
      outputs.push_back(outputs.front());    // one line may be two results,
      outputs.push_back(tape.input(1));      // an input
      outputs.push_back(tape.constant(42));  // or a constant too
      const std::size_t split = seed % (outputs.size() + 1);
      MachineCode code(tape, outputs, split), reader(tape, outputs, split);
      code.make_native();
      CHECK_FALSE(reader.is_native());
      for (const std::vector<double>& z : points) {
        std::vector<double> first(8), second(8), first_read(8), second_read(8);
        code.run(z.data(), z.size(), first.data(), second.data());
        reader.run(z.data(), z.size(), first_read.data(), second_read.data());
        for (std::size_t k = 0; k < 8; ++k) {
          CHECK(same_bits(first[k], first_read[k]));
          CHECK(same_bits(second[k], second_read[k]));
        }
      }
    }
  }

  TEST_CASE("code can be moved and replaced, and runs without allocating") {
    Tape tape;
    const std::vector<int> square{
        tape.apply(Operation::multiply, tape.input(0), tape.input(0))};
    MachineCode code(tape, square, 1), other;
    other = std::move(code);
    MachineCode third(std::move(other));
    third = MachineCode(tape, square, 1);
    const double x = 3;
    double y = 0;
    const long before = allocations();
    for (int k = 0; k < 20'000; ++k) {  // it is read at first, and has pages in the end
      y = 0;
      third.run(&x, 1, &y, nullptr);
      if (y != 9) break;
    }
    CHECK(allocations() == before);
    CHECK(y == 9);
    MachineCode at_once(tape, square, 1);
    at_once.make_native();
    CHECK(third.is_native() == at_once.is_native());
  }
}

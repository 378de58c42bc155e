#include <doctest/doctest.h>
#include <array>
#include <random>
#include <vector>

#include <perp/core/tape/tape.hpp>

namespace {

TEST_CASE("numbers in place of inputs: lines that become equal are one, all values stay") {
  using perp::Operation;
  for (const bool are_equal : {false, true}) {
    CAPTURE(are_equal);
    perp::Tape tape;  // (p0 + 1) x and (p1 + 1) x, then their product
    const int x = tape.input(0), one = tape.constant(1);
    std::vector<int> outputs;
    for (int k = 0; k < 2; ++k)
      outputs.push_back(tape.apply(Operation::multiply, tape.apply(Operation::add, tape.input(1 + k), one), x));
    outputs.push_back(tape.apply(Operation::multiply, outputs[0], outputs[1]));
    outputs.push_back(tape.apply(Operation::negate, one));
    const std::array<double, 2> known{0.25, are_equal ? 0.25 : 0.5};
    const perp::Tape bound = perp::bind_inputs(tape, 1, known, outputs);
    CHECK((outputs[0] == outputs[1]) == are_equal);
    CHECK(bound.size() == (are_equal ? 5 : 7));
    const std::array<double, 1> inputs{3};
    std::vector<double> values(static_cast<std::size_t>(bound.size()));
    bound.evaluate(std::span<const double>(inputs), std::span(values));
    const auto value = [&](int k) { return values[static_cast<std::size_t>(outputs[static_cast<std::size_t>(k)])]; };
    CHECK(value(0) == 1.25 * 3);
    CHECK(value(1) == (are_equal ? 1.25 : 1.5) * 3);
    CHECK(value(2) == value(0) * value(1));
    CHECK(value(3) == -1);
  }
}

}  // namespace

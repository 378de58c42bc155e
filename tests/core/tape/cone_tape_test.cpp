#include <doctest/doctest.h>
#include <array>
#include <bit>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include <perp/core/tape/cone_tape.hpp>

namespace {

TEST_CASE("single outputs of a tape are those of the whole tape, bit by bit") {
  using perp::Operation;
  std::mt19937 random(5);
  std::uniform_real_distribution<double> value(-2, 2);
  constexpr std::array<Operation, 6> operations{Operation::add, Operation::subtract, Operation::multiply,
                                                Operation::max, Operation::divide,   Operation::sin};
  perp::Tape tape;
  std::vector<int> lines;
  for (int k = 0; k < 5; ++k) lines.push_back(tape.input(k));
  lines.push_back(tape.constant(0.3));
  const auto any = [&] { return lines[random() % lines.size()]; };
  for (int k = 0; k < 60; ++k) {
    const Operation operation = operations[random() % operations.size()];
    lines.push_back(tape.apply(operation, any(), operation == Operation::sin ? -1 : any()));
  }
  perp::ConeTape cones(tape, lines);
  std::vector<double> values(static_cast<std::size_t>(tape.size())), inputs(5);
  for (int round = 0; round < 20; ++round) {
    for (double& input : inputs) input = value(random);
    tape.evaluate(std::span<const double>(inputs), std::span(values));
    for (std::size_t k = 0; k < lines.size(); ++k)
      CHECK(std::bit_cast<std::uint64_t>(cones.value(static_cast<int>(k), inputs)) ==
            std::bit_cast<std::uint64_t>(values[static_cast<std::size_t>(lines[k])]));
  }
}

TEST_CASE("outputs of one form share their operations and keep their inputs and numbers") {
  perp::Tape tape;
  std::vector<int> lines;
  for (int k = 0; k < 300; ++k) {
    const int difference = tape.apply(perp::Operation::subtract, tape.constant(0.1 * k), tape.input(k % 7));
    lines.push_back(tape.apply(perp::Operation::multiply, difference, k % 100 == 50 ? difference : tape.input((k + 3) % 7)));
  }
  perp::ConeTape cones(tape, lines);
  const std::vector<double> x{0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7};
  for (int round = 0; round < 2; ++round)
    for (int k = 0; k < 300; ++k) {
      const double difference = 0.1 * k - x[static_cast<std::size_t>(k % 7)];
      const double other = k % 100 == 50 ? difference : x[static_cast<std::size_t>((k + 3) % 7)];
      CHECK(cones.value(k, x) == difference * other);
    }
}

TEST_CASE("derivatives by inputs that an output is affine in are numbers, whatever the others are") {
  perp::Tape tape;
  const int x = tape.input(0), y = tape.input(1), z = tape.input(2);
  const auto apply = [&](perp::Operation operation, int a, int b = -1) { return tape.apply(operation, a, b); };
  using enum perp::Operation;
  const int twice = apply(multiply, tape.constant(2), apply(subtract, x, y));
  const int affine = apply(add, apply(subtract, twice, apply(negate, x)), apply(multiply, z, apply(sin, z)));
  const int mixed = apply(multiply, z, x);
  perp::ConeTape cones(tape, {affine, mixed, y, tape.constant(4), apply(subtract, x, x)});
  std::vector<perp::ConeTape::Slope> slopes;
  REQUIRE(cones.slopes(0, 0, 2, slopes));
  REQUIRE(slopes.size() == 2);
  CHECK(slopes[0].input == 0);
  CHECK(slopes[0].value == 3);
  CHECK(slopes[1].input == 1);
  CHECK(slopes[1].value == -2);
  CHECK_FALSE(cones.slopes(0, 0, 3, slopes));
  CHECK_FALSE(cones.slopes(1, 0, 2, slopes));
  REQUIRE(cones.slopes(1, 1, 2, slopes));
  CHECK(slopes.empty());
  REQUIRE(cones.slopes(2, 0, 3, slopes));
  REQUIRE(slopes.size() == 1);
  CHECK(slopes[0].value == 1);
  REQUIRE(cones.slopes(3, 0, 3, slopes));
  CHECK(slopes.empty());
  REQUIRE(cones.slopes(4, 0, 3, slopes));  // 1 - 1
  CHECK(slopes.empty());
}

}  // namespace

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

}  // namespace

#include <doctest/doctest.h>
#include <cmath>
#include <span>
#include <vector>

#include <perp/core/tape/series_tape.hpp>
#include <perp/core/tape/taylor.hpp>

namespace {

using perp::Operation;
using perp::SeriesTape;
using perp::Tape;
using perp::Taylor;

/// Inputs: 0 and 1 move, 2 is steady.
Tape example(std::vector<int>& outputs) {
  Tape tape;
  const int a = tape.input(0), b = tape.input(1), z = tape.input(2);
  const auto make = [&](Operation operation, int x, int y = -1) { return tape.apply(operation, x, y); };
  const int product = make(Operation::multiply, make(Operation::multiply, a, b), z);
  const int shifted = make(Operation::add, make(Operation::multiply, a, a), tape.constant(1));
  outputs = {product,
             make(Operation::divide, b, shifted),
             make(Operation::sqrt, shifted),
             make(Operation::log, shifted),
             make(Operation::exp, make(Operation::negate, b)),
             make(Operation::sin, product),
             make(Operation::cos, a),
             make(Operation::power, shifted, tape.constant(1.5)),
             make(Operation::power, b, tape.constant(2)),
             make(Operation::subtract, make(Operation::divide, a, z), make(Operation::sin, z))};
  return tape;
}

TEST_CASE("series of lines order by order are those of the whole series at once") {
  std::vector<int> outputs;
  const Tape tape = example(outputs);
  REQUIRE(SeriesTape::obstacle(tape, outputs).empty());
  constexpr int orders = 12;
  SeriesTape series(tape, orders, {0, 0, 1});
  std::vector<Taylor<double, orders>> inputs(3), values(static_cast<std::size_t>(tape.size()));
  for (int k = 0; k < orders; ++k) {
    inputs[0][k] = std::cos(1.0 + k) / (k + 1);
    inputs[1][k] = std::sin(2.0 + 3 * k);
    inputs[2][k] = k == 0 ? 0.75 : 0;
  }
  tape.evaluate(std::span<const Taylor<double, orders>>(inputs), std::span(values));
  std::vector<int> lines;
  for (int k = 0; k < tape.size(); ++k)
    if (tape[k].operation != Operation::input && tape[k].operation != Operation::constant) lines.push_back(k);
  for (int k = 0; k < orders; ++k) {
    for (int line = 0; line < tape.size(); ++line)
      if (tape[line].operation == Operation::input)
        series[line][k] = inputs[static_cast<std::size_t>(tape[line].a)][k];
    if (k == 0) {
      series.compute(lines, 0);
      continue;
    }
    std::vector<int> moving;
    for (const int line : lines)
      if (!series.is_steady(line)) moving.push_back(line);
    series.compute(moving, k);
  }
  for (const int output : outputs)
    for (int k = 0; k < orders; ++k) {
      CAPTURE(output);
      CAPTURE(k);
      CHECK(series[output][k] ==
            doctest::Approx(values[static_cast<std::size_t>(output)][k]).epsilon(1e-11));
    }
}

TEST_CASE("a line without a series here is named") {
  Tape tape;
  const int line = tape.apply(Operation::max, tape.input(0), tape.constant(1));
  CHECK_FALSE(SeriesTape::obstacle(tape, std::vector<int>{line}).empty());
  CHECK(SeriesTape::obstacle(tape, std::vector<int>{tape.input(0)}).empty());
}

}  // namespace

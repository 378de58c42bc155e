#include <doctest/doctest.h>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include <perp/core/base/types.hpp>
#include <perp/core/expression/expression.hpp>
#include <perp/core/tape/bounded_tape.hpp>
#include <perp/core/tape/lanes/bounded_lanes.hpp>
#include <perp/core/tape/lanes/lane_tape.hpp>
#include <perp/core/tape/lanes/row_program.hpp>
#include <perp/tests/allocations.hpp>
#include <perp/tests/core/random_text.hpp>

using namespace perp;

namespace {

constexpr int names = 4;  // of the random expressions
constexpr int members = 200;

bool same_bits(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) ||
         std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

/// Lines of `from` again with other inputs, and with other numbers where `shift` is none of 0.
int copy_of(const Tape& from, int line, const std::vector<int>& inputs, double shift, Tape& to) {
  std::vector<int> place;
  for (int k = 0; k <= line; ++k) {
    const Instruction& here = from[k];
    if (here.operation == Operation::input)
      place.push_back(to.input(inputs[static_cast<std::size_t>(here.a)]));
    else if (here.operation == Operation::constant)
      place.push_back(to.constant(here.value + shift));
    else
      place.push_back(to.apply(here.operation, here.a < 0 ? -1 : place[static_cast<std::size_t>(here.a)],
                               here.b < 0 ? -1 : place[static_cast<std::size_t>(here.b)]));
  }
  return place.back();
}

struct Family {
  Tape tape{};
  std::vector<int> outputs{};
  int inputs = members + names;
};

/// Two random expressions for neighbours in a chain, some of them with other indices, and a sum of all.
Family family_of(unsigned seed) {
  std::mt19937 random(seed);
  Family family;
  int sum = -1;
  for (unsigned k = 0; k < 2; ++k) {
    Tape one;
    const int line = parse_expression(test::RandomText(7 * seed + k).make(5), test::random_scope(), one);
    for (int i = 0; i < members; ++i) {
      std::vector<int> inputs{i, i + 1, i + 2, i + 3};
      if (random() % 40 == 0) inputs[random() % names] = static_cast<int>(random() % members);
      const double shift = k == 0 ? 0 : i % 5;
      const int copy = copy_of(one, line, inputs, shift, family.tape);
      family.outputs.push_back(copy);
      if (seed % 3 == 0) sum = sum < 0 ? copy : family.tape.apply(Operation::add, sum, copy);
    }
  }
  if (sum >= 0) family.outputs.push_back(sum);
  family.outputs.push_back(family.outputs.front());    // one line may be two results,
  family.outputs.push_back(family.tape.input(1));      // an input
  family.outputs.push_back(family.tape.constant(42));  // or a constant too
  return family;
}

std::vector<double> point(const Family& family, unsigned seed) {
  std::mt19937 random(seed);
  const std::vector<double> special{0, -0.0, 1, -2, 1e300, 1e-300, 0x1p-1060, inf, perp::nan};
  std::uniform_real_distribution<double> ordinary(-3, 3);
  std::vector<double> z;
  for (int k = 0; k < family.inputs; ++k)
    z.push_back(random() % 8 == 0 ? special[random() % special.size()] : ordinary(random));
  return z;
}

}  // namespace

TEST_SUITE("core/lane_tape") {
  TEST_CASE("lines of one form together give the values of the tape bit by bit") {
    int served = 0;
    for (unsigned seed = 1; seed <= 120; ++seed) {
      CAPTURE(seed);
      const Family family = family_of(seed);
      const std::size_t split = seed % (family.outputs.size() + 1);
      LaneTape lanes(family.tape, family.outputs, split);
      if (!lanes.serves()) continue;
      ++served;
      for (unsigned k = 0; k < 3; ++k) {
        const std::vector<double> z = point(family, 10 * seed + k);
        std::vector<double> first(family.outputs.size()), second(first), values(static_cast<std::size_t>(family.tape.size()));
        lanes.run(z.data(), first.data(), second.data());
        family.tape.evaluate(std::span<const double>(z), std::span(values));
        bool is_same = true;
        for (std::size_t o = 0; o < family.outputs.size(); ++o)
          is_same = is_same && same_bits(o < split ? first[o] : second[o - split],
                                         values[static_cast<std::size_t>(family.outputs[o])]);
        CHECK(is_same);
      }
    }
    CHECK(served > 60);
  }

  TEST_CASE("bounds of rounding errors of lines of one form are those of each line bit by bit") {
    int served = 0;
    for (unsigned seed = 1; seed <= 120; ++seed) {
      CAPTURE(seed);
      const Family family = family_of(seed);
      const int inputs = family.inputs - 3;  // the others are parameters
      std::vector<double> z = point(family, seed), z_error = [&] {
        std::mt19937 random(seed);
        std::vector<double> errors;
        for (const double x : z) errors.push_back(random() % 3 == 0 ? 0 : std::ldexp(std::abs(x), -50));
        return errors;
      }();
      for (std::size_t i = seed % 5; i < z.size(); i += 5) z[i] = 0;  // within its error
      std::vector<char> is_known(static_cast<std::size_t>(family.tape.size()), 0);
      std::vector<RunningError> numbers(is_known.size());
      for (int k = 0; k < family.tape.size(); ++k) {
        const Instruction& line = family.tape[k];
        const auto at = static_cast<std::size_t>(k);
        is_known[at] = line.operation == Operation::constant || line.operation == Operation::pi ||
                       (line.operation == Operation::input && line.a >= inputs);
        if (line.operation == Operation::pi) numbers[at] = ScalarTraits<RunningError>::pi();
        if (line.operation == Operation::constant) numbers[at] = RunningError(line.value);
        if (line.operation == Operation::input) numbers[at] = RunningError(z[static_cast<std::size_t>(line.a)]);
      }
      BoundedLanes lanes(family.tape, family.outputs, is_known, numbers);
      if (!lanes.serves()) continue;
      ++served;
      for (const bool has_errors : {true, false}) {
        CAPTURE(has_errors);
        std::vector<RunningError> at_inputs, values(is_known.size());
        for (std::size_t k = 0; k < z.size(); ++k)
          at_inputs.emplace_back(z[k], has_errors && static_cast<int>(k) < inputs ? z_error[k] : 0);
        family.tape.evaluate(std::span<const RunningError>(at_inputs), std::span(values));
        lanes.run(z.data(), has_errors ? z_error.data() : nullptr);
        bool is_same = true;
        for (std::size_t o = 0; o < family.outputs.size(); ++o) {
          const RunningError expected = values[static_cast<std::size_t>(family.outputs[o])];
          is_same = is_same && same_bits(lanes.output(o).value, expected.value) &&
                    same_bits(lanes.output(o).error, expected.error);
        }
        CHECK(is_same);
      }
    }
    CHECK(served > 60);
  }

  TEST_CASE("bounds of rows with binaries are those of each row bit by bit, whichever lanes are unusual") {
    // -0.1 (x_i - 5) + 4 z_i (1 - 0.3 z_j) and (lo_i - x_i)(1 - z_i) + (x_i - 20) z_i, binaries behind the variables.
    Tape tape;
    std::vector<int> outputs;
    const auto apply = [&](Operation operation, int a, int b) { return tape.apply(operation, a, b); };
    using enum Operation;
    const int one = tape.constant(1);
    for (int i = 0; i < members; ++i) {
      const int x = tape.input(i), z = tape.input(members + i), other = tape.input(members + (i + 1) % members);
      const int loss = apply(multiply, tape.constant(-0.1), apply(subtract, x, tape.constant(5)));
      const int share = apply(subtract, one, apply(multiply, tape.constant(0.3), other));
      outputs.push_back(apply(add, loss, apply(multiply, apply(multiply, tape.constant(4), z), share)));
      const int low = apply(multiply, apply(subtract, tape.constant(19 + 0.01 * (i % 7)), x), apply(subtract, one, z));
      outputs.push_back(apply(add, low, apply(multiply, z, apply(subtract, x, tape.constant(20)))));
    }
    std::vector<char> is_known(static_cast<std::size_t>(tape.size()), 0);
    std::vector<RunningError> numbers(is_known.size());
    for (std::size_t k = 0; k < is_known.size(); ++k)
      if (const Instruction& line = tape[static_cast<int>(k)]; line.operation == constant) {
        is_known[k] = 1;
        numbers[k] = RunningError(line.value);
      }
    BoundedLanes lanes(tape, outputs, is_known, numbers);
    REQUIRE(lanes.serves());
    const std::vector<double> special{0, 19, 20, 5, -1, 0x1p-1070, 1e300, inf, perp::nan};
    for (unsigned seed = 1; seed <= 60; ++seed) {
      CAPTURE(seed);
      std::mt19937 random(seed);
      std::uniform_real_distribution<double> ordinary(18, 21);
      const unsigned rarely = seed % 3 == 0 ? 20 : 200;
      std::vector<RunningError> inputs;
      for (int k = 0; k < 2 * members; ++k) {
        const bool is_unusual = random() % rarely == 0;
        const double value = is_unusual ? special[random() % special.size()] : k < members ? ordinary(random) : random() % 2;
        const double error = k < members && !(is_unusual && random() % 2 == 0) ? std::ldexp(std::abs(value), -53) : 0;
        inputs.emplace_back(value, is_unusual && random() % 8 == 0 ? 0x1p-1070 : error);
      }
      std::vector<double> z, z_error, values(outputs.size()), errors(outputs.size());
      for (const RunningError& input : inputs) {
        z.push_back(input.value);
        z_error.push_back(input.error);
      }
      std::vector<RunningError> expected(is_known.size());
      tape.evaluate(std::span<const RunningError>(inputs), std::span(expected));
      lanes.run(z.data(), z_error.data(), values.data(), errors.data());
      bool is_same = true;
      for (std::size_t o = 0; o < outputs.size(); ++o) {
        const RunningError& row = expected[static_cast<std::size_t>(outputs[o])];
        is_same = is_same && same_bits(values[o], row.value) && same_bits(errors[o], row.error);
      }
      CHECK(is_same);
    }
  }

  TEST_CASE("rows that differ in the order of their numbers are one form") {
    Tape tape;
    std::vector<int> outputs;
    for (int i = 0; i < 64; ++i) {  // 3 and 4 are made in the order in which rows use them first
      const int first = tape.constant(i % 2 == 0 ? 3 : 4);
      const int sum = tape.apply(Operation::add, tape.input(i), first);
      outputs.push_back(tape.apply(Operation::multiply, sum, tape.constant(i % 2 == 0 ? 4 : 3)));
    }
    std::vector<char> is_known;
    for (int k = 0; k < tape.size(); ++k) is_known.push_back(tape[k].operation == Operation::constant ? 1 : 0);
    const std::optional<LaneProgram> program = row_program(tape, outputs, outputs.size(), is_known);
    REQUIRE(program);
    CHECK(program->instructions.size() == 3);  // a sum, a product, a store
  }

  TEST_CASE("rows that share most of their lines are left to programs that compute these once") {
    Tape tape;
    int shared = tape.input(0);
    for (int k = 0; k < 100; ++k) shared = tape.apply(Operation::sin, shared, -1);
    std::vector<int> outputs;
    for (int i = 0; i < 300; ++i) outputs.push_back(tape.apply(Operation::add, shared, tape.input(i)));
    const std::vector<char> is_known(static_cast<std::size_t>(tape.size()), 0);
    CHECK_FALSE(row_program(tape, outputs, outputs.size(), is_known));
  }

  TEST_CASE("a long tape with bounds gives those of its parts") {
    Tape tape;
    std::vector<int> outputs;
    for (int i = 0; i < members; ++i) {
      const int product = tape.apply(Operation::multiply, tape.input(i), tape.input(members));
      outputs.push_back(tape.apply(Operation::subtract, product, tape.apply(Operation::multiply, tape.input(i + 1), product)));
    }
    const std::vector<double> z(static_cast<std::size_t>(members) + 1, 0.1), parameter{0.3};
    std::vector<double> all = z;
    all.back() = parameter[0];
    BoundedTape whole(tape, outputs, members, parameter);
    whole.run(all.data(), nullptr);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      BoundedTape one(tape, std::span(outputs).subspan(k, 1), members, parameter);
      one.run(all.data(), nullptr);
      CHECK(same_bits(whole.output(k).value, one.output(0).value));
      CHECK(same_bits(whole.output(k).error, one.output(0).error));
      CHECK(whole.output(k).error > 0);
    }
  }

  TEST_CASE("a tape without lines of the same form is left to other means, one with them runs without allocating") {
    Tape chain;
    int line = chain.input(0);
    for (int k = 0; k < 1000; ++k) line = chain.apply(k % 2 == 0 ? Operation::sin : Operation::negate, line);
    CHECK_FALSE(LaneTape(chain, std::span(&line, 1), 1).serves());

    Tape rows;
    std::vector<int> outputs;
    for (int i = 0; i < 1000; ++i) outputs.push_back(rows.apply(Operation::multiply, rows.input(i), rows.input(999 - i)));
    LaneTape lanes(rows, outputs, outputs.size());
    REQUIRE(lanes.serves());
    std::vector<double> x, y(1000);
    for (int i = 0; i < 1000; ++i) x.push_back(i);
    const long before = allocations();
    lanes.run(x.data(), y.data(), nullptr);
    CHECK(allocations() == before);
    CHECK(y[10] == 10 * 989);
  }
}

#include <doctest/doctest.h>
#include <cmath>
#include <span>
#include <vector>

#include <perp/core/base/error.hpp>
#include <perp/core/expression/differentiate.hpp>
#include <perp/core/tape/machine_code.hpp>
#include <perp/core/tape/running_error.hpp>
#include <perp/core/tape/tape.hpp>
#include <perp/core/tape/taylor.hpp>

namespace {

using perp::DataTable;
using perp::Operation;
using perp::Tape;
using Between = DataTable::Between;

const std::vector<double> times{0, 1, 1.5, 4};
const std::vector<double> values{2, 3, 3, -2};

Tape tape_of(DataTable table, int& line) {
  Tape tape;
  line = tape.apply(Operation::table, tape.input(0), tape.constant(DataTable::number_of(std::move(table))));
  return tape;
}

template <class T>
T value_at(const Tape& tape, int line, const T& t) {
  std::vector<T> results(static_cast<std::size_t>(tape.size()));
  tape.evaluate(std::span<const T>(&t, 1), std::span<T>(results));
  return results[static_cast<std::size_t>(line)];
}

TEST_CASE("data are joined by straight lines, and have their own values at their times") {
  int line = -1;
  const Tape tape = tape_of({"u", times, values, Between::linear}, line);
  for (std::size_t k = 0; k < times.size(); ++k)
    CHECK(value_at(tape, line, times[k]) == values[k]);
  CHECK(value_at(tape, line, 0.25) == 2.25);
  CHECK(value_at(tape, line, 1.25) == 3);
  CHECK(value_at(tape, line, 2.75) == 0.5);
  CHECK(std::isnan(value_at(tape, line, std::nan(""))));
}

TEST_CASE("data that are held jump at their times, where the new value counts") {
  int line = -1;
  const Tape tape = tape_of({"u", times, values, Between::hold}, line);
  CHECK(value_at(tape, line, 0.999) == 2);
  CHECK(value_at(tape, line, std::nextafter(1.0, 0)) == 2);
  CHECK(value_at(tape, line, 1.0) == 3);
  CHECK(value_at(tape, line, 3.999) == 3);
  CHECK(value_at(tape, line, 4.0) == -2);
  const DataTable table("u", times, values, Between::hold);
  CHECK(table.jumps() == std::vector<double>{1, 4});  // at 1.5 nothing changes
  CHECK(table.kinks().empty());
  CHECK(DataTable("u", times, values, Between::linear).kinks() == std::vector<double>{1, 1.5});
}

TEST_CASE("every row of a long table is found, at equal distances and at others") {
  for (const bool is_even : {true, false}) {
    std::vector<double> t, u;
    for (int k = 0; k < 100000; ++k) {
      t.push_back(is_even ? 0.1 * k : std::sqrt(static_cast<double>(k)) * 10);
      u.push_back(std::sin(0.01 * k));
    }
    const DataTable table("u", t, u, Between::linear);
    for (int k = 0; k + 1 < 100000; k += 7) {
      const auto i = static_cast<std::size_t>(k);
      CHECK_EQ(table.piece(t[i]), k);
      CHECK_EQ(table.piece(std::nextafter(t[i + 1], 0)), k);
    }
  }
}

TEST_CASE("series, error bounds and machine code see the same piece") {
  int line = -1;
  Tape tape = tape_of({"u", times, values, Between::linear}, line);
  using Series = perp::Taylor<double, 4>;
  Series t(1.5);
  t[1] = 1;
  const Series series = value_at(tape, line, t);
  CHECK(series[0] == 3);
  CHECK(series[1] == -2);  // what holds just after t
  CHECK(series[2] == 0);
  for (const double at : {0.3, 1.1, 3.3}) {
    const perp::RunningError bounded = value_at(tape, line, perp::RunningError(at));
    CHECK(std::abs(bounded.value - value_at(tape, line, at)) <= bounded.error);
    CHECK(bounded.error < 1e-14);
    const std::vector<int> outputs{line};
    perp::MachineCode code(tape, outputs, 1);
    double result = 0;
    code.run(&at, 1, &result, nullptr);
    CHECK(result == value_at(tape, line, at));
  }
  const std::vector<int> outputs{line};
  const auto derivatives = perp::differentiate(tape, outputs, 0, 1);
  REQUIRE(derivatives.size() == 1);
  CHECK(value_at(tape, derivatives[0].line, 0.5) == 1);
  CHECK(value_at(tape, derivatives[0].line, 3.0) == -2);
}

TEST_CASE("equal tables have one number, and wrong ones are refused with their row") {
  const double first = DataTable::number_of({"a", {0, 1}, {2, 3}, Between::hold});
  CHECK(DataTable::number_of({"a", {0, 1}, {2, 3}, Between::hold}) == first);
  CHECK(DataTable::number_of({"a", {0, 1}, {2, 3}, Between::linear}) != first);
  CHECK_THROWS_WITH_AS(DataTable("a", {0}, {1}, Between::hold),
                       "table 'a' has 1 row; expected two or more", perp::InvalidInput);
  CHECK_THROWS_WITH_AS(DataTable("a", {0, 1, 1}, {1, 2, 3}, Between::hold),
                       "table 'a', row 3: the time does not increase; expected increasing times",
                       perp::InvalidInput);
  CHECK_THROWS_AS(DataTable("a", {0, 1}, {1, std::nan("")}, Between::hold), perp::InvalidInput);
}

}  // namespace

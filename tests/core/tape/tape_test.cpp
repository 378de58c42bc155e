#include <doctest/doctest.h>
#include <utility>
#include <vector>

#include <perp/core/tape/tape.hpp>

namespace perp {
namespace {

/// x, x², x² + 1, ...: some hundred lines.
Tape sums(int count) {
  Tape tape;
  int line = tape.apply(Operation::multiply, tape.input(0), tape.input(0));
  for (int k = 1; k <= count; ++k) line = tape.apply(Operation::add, line, tape.constant(k));
  return tape;
}

TEST_CASE("a copy of a tape shares its lines until one of the two gets another, which the other one does not see") {
  Tape tape = sums(100);
  const Tape before = tape;
  Tape copy = tape;
  CHECK(&copy[5] == &tape[5]);
  const int added = copy.apply(Operation::sin, 0);
  CHECK(added == tape.size());
  CHECK(copy.size() == tape.size() + 1);
  CHECK(&copy[5] != &tape[5]);
  CHECK(tape == before);
  CHECK_FALSE(copy == before);
  // The same line is found again in either, and is not made twice.
  CHECK(copy.apply(Operation::sin, 0) == added);
  CHECK(copy.apply(Operation::multiply, 0, 0) == 1);
  CHECK(tape.apply(Operation::multiply, 0, 0) == 1);
  CHECK(tape.apply(Operation::cos, 0) == added);
  CHECK(tape[added].operation == Operation::cos);
  CHECK(copy[added].operation == Operation::sin);
  copy = before;
  CHECK(copy == before);
  CHECK(copy.apply(Operation::multiply, 0, 0) == 1);
  const Tape moved = std::move(copy);
  CHECK(moved == before);
}

TEST_CASE("a tape that was settled has the same lines and finds them again") {
  Tape tape = sums(1000);
  const Tape before = tape;
  tape.settle();
  CHECK(tape == before);
  CHECK(tape.apply(Operation::multiply, 0, 0) == 1);
  CHECK(tape.size() == before.size());
  Tape empty;
  empty.settle();
  CHECK(empty == Tape());
  CHECK(empty.size() == 0);
  CHECK(empty.constant(2) == 0);
  std::vector<double> none;
  Tape().evaluate<double>(none, none);
}

}  // namespace
}  // namespace perp

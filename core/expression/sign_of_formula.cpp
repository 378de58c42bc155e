#include <cmath>
#include <span>
#include <vector>

#include <perp/core/base/index.hpp>
#include <perp/core/expression/dependent_lines.hpp>
#include <perp/core/expression/sign_of_formula.hpp>

namespace perp {
namespace {

using Sign = FormulaSign;

bool is_at_least_0(Sign sign) { return sign == Sign::nonnegative || sign == Sign::positive; }
bool is_at_most_0(Sign sign) { return sign == Sign::nonpositive || sign == Sign::negative; }
bool is_strict(Sign sign) { return sign == Sign::positive || sign == Sign::negative; }

Sign sign_of(bool is_positive, bool strict) {
  if (is_positive) return strict ? Sign::positive : Sign::nonnegative;
  return strict ? Sign::negative : Sign::nonpositive;
}

Sign opposite(Sign sign) { return sign == Sign::unknown ? sign : sign_of(is_at_most_0(sign), is_strict(sign)); }

Sign sum(Sign a, Sign b) {
  if (is_at_least_0(a) && is_at_least_0(b)) return sign_of(true, is_strict(a) || is_strict(b));
  if (is_at_most_0(a) && is_at_most_0(b)) return sign_of(false, is_strict(a) || is_strict(b));
  return Sign::unknown;
}

Sign product(Sign a, Sign b) {
  if (a == Sign::unknown || b == Sign::unknown) return Sign::unknown;
  return sign_of(is_at_least_0(a) == is_at_least_0(b), is_strict(a) && is_strict(b));
}

Sign of_number(double value) {
  if (std::isnan(value)) return Sign::unknown;
  return sign_of(value >= 0, value != 0);
}

/// Of a power; that of an even exponent is a square.
Sign power(Sign base, const Instruction& exponent) {
  const bool is_even = exponent.operation == Operation::constant && std::fmod(exponent.value, 2) == 0;
  if (is_even && !is_at_least_0(base)) return sign_of(true, is_strict(base) || exponent.value == 0);
  return is_at_least_0(base) ? base : Sign::unknown;  // only a positive base has one for every exponent
}

/// Of an operation on one line.
Sign of_one(Operation operation, Sign a) {
  switch (operation) {
    case Operation::pi:
    case Operation::exp:
    case Operation::cosh: return Sign::positive;
    case Operation::negate: return opposite(a);
    case Operation::sqrt:
    case Operation::abs: return sign_of(true, is_strict(a));
    default: return Sign::unknown;
  }
}

/// Of an operation on two lines.
Sign of_two(const Tape& tape, const Instruction& line, Sign a, Sign b) {
  switch (line.operation) {
    case Operation::add: return sum(a, b);
    case Operation::subtract: return sum(a, opposite(b));
    case Operation::multiply: return line.a == line.b ? sign_of(true, is_strict(a)) : product(a, b);
    case Operation::divide: return is_strict(b) ? product(a, b) : Sign::unknown;
    case Operation::power: return power(a, tape[line.b]);
    default: return Sign::unknown;
  }
}

/// Of a line of the tape whose earlier lines have these signs. An input has any; what `a` names there is no line.
Sign of_line(const Tape& tape, const Instruction& line, const std::vector<Sign>& signs) {
  if (line.operation == Operation::constant) return of_number(line.value);
  if (line.operation == Operation::input) return Sign::unknown;
  const auto of = [&](int operand) { return operand < 0 ? Sign::unknown : signs[at(operand)]; };
  return line.b < 0 ? of_one(line.operation, of(line.a)) : of_two(tape, line, of(line.a), of(line.b));
}

/// Is this operation one of exponentials, sums, and products with numbers? `moves`: of each line, is it none?
bool is_exponential(const Instruction& line, const std::vector<char>& moves) {
  switch (line.operation) {
    case Operation::multiply: return moves[at(line.a)] == 0 || moves[at(line.b)] == 0;
    case Operation::divide: return moves[at(line.b)] == 0;
    default: return line.operation <= Operation::subtract || line.operation == Operation::exp;
  }
}

}  // namespace

FormulaSign sign_of_formula(const Tape& tape, int line) {
  std::vector<Sign> signs(at(line + 1), Sign::unknown);
  const std::vector<bool> needed = needed_lines(tape, std::span(&line, 1));
  for (int k = 0; k <= line; ++k)
    if (needed[at(k)]) signs[at(k)] = of_line(tape, tape[k], signs);
  return signs[at(line)];
}

bool vanishes_nowhere(const Tape& tape, int line) { return is_strict(sign_of_formula(tape, line)); }

bool is_sum_of_exponentials(const Tape& tape, int line) {
  const std::vector<bool> needed = needed_lines(tape, std::span(&line, 1));
  const std::vector<char> moves = dependent_lines(tape, [](int /*input*/) { return true; });
  for (int k = 0; k <= line; ++k)
    if (needed[at(k)] && !is_exponential(tape[k], moves)) return false;
  return vanishes_nowhere(tape, line);
}

}  // namespace perp

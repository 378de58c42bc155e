#include <algorithm>
#include <cmath>
#include <numbers>

#include <perp/core/interval/rational_tape.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/expression/polynomial.hpp>
#include <perp/core/interval/interval.hpp>

namespace perp {
namespace {

bool is_small_natural(const Rational& value) {
  const double number = to_double(value);
  return number >= 0 && number <= RationalTape::most_power && number == std::floor(number) &&
         Rational(number) == value;
}

Rational power(const Rational& base, int exponent) {
  Rational result = 1;
  for (int k = 0; k < exponent; ++k) result *= base;
  return result;
}

/// Is the value of these doubles a double, as that of cos(0)?
bool is_point(Operation operation, double x, double y) {
  const enclosure::Interval value =
      apply_operation(operation, enclosure::Interval(x), enclosure::Interval(y));
  return value.has_value() && value.is_point();
}

}  // namespace

RationalTape::RationalTape(const Tape& tape, const std::vector<RunningError>& inputs)
    : tape_(tape) {
  for (const RunningError& input : inputs) inputs_.push_back(input.value);
}

std::optional<Rational> RationalTape::value(int line, const std::vector<int>& unknowns,
                                            const std::vector<Rational>& at_unknowns) {
  std::vector<Rational> values(at(line + 1));
  for (const int k : lines_below(tape_, line)) {
    const Instruction& here = tape_[k];
    if (here.operation == Operation::constant) {
      if (!std::isfinite(here.value)) return std::nullopt;
      values[at(k)] = here.value;
    } else if (here.operation == Operation::pi) {
      values[at(k)] = std::numbers::pi;
      is_exact = false;
    } else if (here.operation == Operation::input) {
      const auto place = std::find(unknowns.begin(), unknowns.end(), here.a);
      values[at(k)] = place == unknowns.end()
                          ? Rational(inputs_[at(here.a)])
                          : at_unknowns[at(static_cast<int>(place - unknowns.begin()))];
    } else if (!apply(here, values, values[at(k)])) {
      return std::nullopt;
    }
  }
  return values[at(line)];
}

bool RationalTape::apply(const Instruction& line, const std::vector<Rational>& values,
                         Rational& result) {
  const Rational none;
  return apply(line.operation, line.a < 0 ? none : values[at(line.a)],
               line.b < 0 ? none : values[at(line.b)], result);
}

bool RationalTape::apply(Operation operation, const Rational& a, const Rational& b,
                         Rational& result) {
  switch (operation) {
    case Operation::negate: result = -a; return true;
    case Operation::add: result = a + b; return true;
    case Operation::subtract: result = a - b; return true;
    case Operation::multiply: result = a * b; return true;
    case Operation::divide:
      if (b == 0) return false;
      result = a / b;
      return true;
    default: break;
  }
  if (operation == Operation::power && is_small_natural(b)) {
    result = power(a, static_cast<int>(to_double(b)));
    return true;
  }
  return apply_rounded(operation, a, b, result);
}

bool RationalTape::apply_rounded(Operation operation, const Rational& a, const Rational& b,
                                 Rational& result) {
  const double x = to_double(a), y = to_double(b);
  const double rounded = apply_operation(operation, x, y);
  if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(rounded)) return false;
  result = rounded;
  is_exact = is_exact && a == Rational(x) && b == Rational(y) && is_point(operation, x, y);
  return true;
}

std::optional<Rational> exact_value(const Tape& tape, int line,
                                    const std::vector<std::optional<Rational>>& inputs) {
  std::vector<int> known;
  std::vector<Rational> values;
  for (const int k : lines_below(tape, line)) {
    if (tape[k].operation != Operation::input) continue;
    const int input = tape[k].a;
    if (input >= static_cast<int>(inputs.size()) || !inputs[at(input)]) return std::nullopt;
    known.push_back(input);
    values.push_back(*inputs[at(input)]);
  }
  RationalTape numbers(tape, {});
  const std::optional<Rational> value = numbers.value(line, known, values);
  return numbers.is_exact ? value : std::nullopt;
}

}  // namespace perp

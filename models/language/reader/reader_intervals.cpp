// Numbers of model files that may be intervals, and exact: parameters and starts.
#include <fmt/format.h>
#include <cmath>

#include <perp/core/expression/differentiate.hpp>
#include <perp/core/interval/decimal.hpp>
#include <perp/models/language/reader/context.hpp>

namespace perp::reader {
namespace {

using enclosure::Interval;

struct Part {
  std::size_t offset = 0;
  std::string_view text{};
};

Part part_of(std::string_view text, std::size_t from, std::size_t end) {
  while (from < end && text[from] == ' ') ++from;
  while (end > from && text[end - 1] == ' ') --end;
  return {from, text.substr(from, end - from)};
}

/// Places of a symbol outside of brackets.
std::vector<std::size_t> places_of(std::string_view symbol, std::string_view text) {
  std::vector<std::size_t> places;
  int depth = 0;
  for (std::size_t k = 0; k < text.size(); ++k) {
    depth += bracket_step(text[k]);
    if (depth == 0 && text.substr(k).starts_with(symbol)) places.push_back(k);
  }
  return places;
}

/// The inputs that a line holds, in the order of the tape.
std::vector<int> inputs_of_line(const Tape& tape, int line) {
  const std::vector<bool> needed = needed_lines(tape, std::span(&line, 1));
  std::vector<int> inputs;
  for (std::size_t k = 0; k < needed.size(); ++k) {
    const Instruction& here = tape[static_cast<int>(k)];
    if (needed[k] && here.operation == Operation::input) inputs.push_back(here.a);
  }
  return inputs;
}

constexpr std::string_view spread = "+-";
constexpr std::string_view at_every_time = "at every t";

/// The text before "at every t", where that stands at its end.
std::optional<std::string_view> disturbed_part(std::string_view text) {
  const Part whole = part_of(text, 0, text.size());
  if (!whole.text.ends_with(at_every_time)) return std::nullopt;
  return text.substr(0, whole.offset + whole.text.size() - at_every_time.size());
}

}  // namespace

bool is_interval_text(std::string_view text) {
  const Part whole = part_of(text, 0, text.size());
  return whole.text.starts_with('[') || !places_of(spread, whole.text).empty();
}

void Context::refuse_intervals(const Value& value, std::size_t offset, std::string_view what,
                               const Tape& tape, int line, int first) const {
  for (const int input : inputs_of_line(tape, line)) {
    const auto p = static_cast<std::size_t>(input - first);
    if (input < first || p >= is_interval_.size() || !is_interval_[p]) continue;
    const std::string& name = scope_.names[p];
    document_.fail(value, offset,
                   fmt::format("{} holds '{}', which is an interval; expected a number: enclose "
                               "with --set {}=NUMBER",
                               what, name, name));
  }
}

Interval Context::exact_number(const Value& text, std::size_t offset, std::string_view part,
                               std::string_view what) const {
  const double nearest = number(text, offset, part, what, Finite::no);
  if (std::isinf(nearest)) {
    Interval all;
    all.lo = all.hi = nearest;
    return all;
  }
  const Interval value = enclosure::enclose_expression(part, scope_, exact_values_);
  if (!value.is_bounded())
    document_.fail(text, offset,
                   fmt::format("{} has no value for some of the parameters; expected smaller "
                               "intervals of them",
                               what));
  return value;
}

void Context::add_exact_values(std::string_view part, Quantity& quantity) const {
  quantity.exact = enclosure::enclose_expression(part, scope_, exact_values_);
  quantity.rational = enclosure::exact_expression(part, scope_, rationals_);
  if (quantity.is_interval) quantity.formula = enclosure::exact_formula(part, scope_);
}

/// Its derivatives by the parameters, which are its inputs, and its kinks.
void Context::add_slopes(const Expression& expression, Quantity& quantity) const {
  Tape tape = expression.tape();
  const int line = expression.line();
  FormulaKinks kinks(tape, std::span(&line, 1), 0, values_);
  if (kinks.any()) quantity.kinks = std::move(kinks);
  const std::vector<Derivative> derivatives = differentiate(tape, std::span(&line, 1), 0, static_cast<int>(values_.size()));
  if (derivatives.empty()) return;
  std::vector<double> lines(static_cast<std::size_t>(tape.size()));
  tape.evaluate(std::span<const double>(values_), std::span<double>(lines));
  for (const Derivative& derivative : derivatives)
    quantity.slopes.emplace_back(derivative.input, lines[static_cast<std::size_t>(derivative.line)]);
}

bool Context::holds_interval(const Expression& expression, const Value& text, std::size_t offset,
                             std::string_view what) const {
  bool holds = false;
  for (const int input : inputs_of_line(expression.tape(), expression.line())) {
    const auto p = static_cast<std::size_t>(input);
    holds = holds || is_interval_[p];
    if (is_disturbance_[p])
      document_.fail(text, offset,
                     fmt::format("{} holds '{}', which is a function of time; expected a number: "
                                 "write it where it is used, in equations",
                                 what, scope_.names[p]));
  }
  return holds;
}

/// The value of an expression, as a double or exactly, and whether it holds an interval.
Quantity Context::expression(const Value& text, std::size_t offset, std::string_view part,
                             std::string_view what) const {
  Quantity result;
  try {
    const Expression expression(part, scope_);
    result.is_interval = holds_interval(expression, text, offset, what);
    result.value = expression(values_);
    add_slopes(expression, result);
    if (is_exact()) add_exact_values(part, result);
  } catch (const ExpressionError& error) {
    document_.fail(text, offset + error.offset(), fmt::format("{}: {}", what, error.what()));
  }
  if (!std::isfinite(result.value))
    document_.fail(text, offset,
                   fmt::format("{} is {}; expected a finite number", what,
                               std::isnan(result.value) ? "nan" : fmt::format("{}", result.value)));
  if (is_exact() && !result.exact.is_bounded())
    document_.fail(text, offset,
                   fmt::format("{} has no value for some of the parameters; expected smaller "
                               "intervals of them",
                               what));
  return result;
}

Quantity Context::quantity(const Value& value, std::string_view what) const {
  if (value.kind == Value::Kind::number) {
    Quantity result{number(value, what)};
    if (is_exact()) {
      result.exact = enclosure::enclose_decimal(document_.literal(value));
      result.rational = enclosure::exact_number(document_.literal(value));
    }
    return result;
  }
  if (value.kind == Value::Kind::list)
    document_.fail(value, fmt::format("{} is a list; expected a number or an expression in quotes, "
                                      "or an interval, as in \"[1.1, 1.21]\"",
                                      what));
  if (value.kind != Value::Kind::text)
    return {number(value, what)};  // which says what is expected
  const std::string_view text = value.text;
  if (!is_interval_text(text)) return expression(value, 0, text, what);
  const auto disturbed = disturbed_part(text);
  Quantity result = interval(value, disturbed.value_or(text), what);
  result.is_disturbance = disturbed.has_value();
  return result;
}

Quantity Context::part_of_interval(const IntervalText& given, std::size_t from, std::size_t end) const {
  const Part part = part_of(given.text, from, end);
  if (part.text.empty())
    document_.fail(given.value, from,
                   fmt::format("{}: the interval '{}' is empty; expected two numbers, as in "
                               "[1.1, 1.21] or 5.4 +- 0.1",
                               given.what, given.text));
  return expression(given.value, part.offset, part.text, given.what);
}

Context::IntervalEnds Context::ends_in_brackets(const IntervalText& given) const {
  const Part whole = part_of(given.text, 0, given.text.size());
  const std::vector<std::size_t> commas = places_of(",", given.text);
  if (!whole.text.ends_with(']') || commas.size() != 1)
    document_.fail(given.value, whole.offset,
                   fmt::format("{} is '{}'; expected an interval of two numbers, as in "
                               "[1.1, 1.21]",
                               given.what, given.text));
  IntervalEnds ends;
  ends.lower = part_of_interval(given, whole.offset + 1, commas[0]);
  ends.upper = part_of_interval(given, commas[0] + 1, whole.offset + whole.text.size() - 1);
  ends.inside = ends.lower.value / 2 + ends.upper.value / 2;
  return ends;
}

Context::IntervalEnds Context::ends_around(const IntervalText& given) const {
  const std::size_t sign = places_of(spread, given.text)[0];
  const Quantity middle = part_of_interval(given, 0, sign),
                 radius = part_of_interval(given, sign + spread.size(), given.text.size());
  if (radius.value < 0)
    document_.fail(given.value, fmt::format("{} is '{}', an interval with a radius below 0; expected "
                                            "it as in 5.4 +- 0.1",
                                            given.what, given.text));
  IntervalEnds ends;
  ends.lower.value = ends.upper.value = ends.inside = middle.value;
  if (is_exact()) {
    ends.lower.exact = middle.exact - radius.exact;
    ends.upper.exact = middle.exact + radius.exact;
  }
  return ends;
}

/// The interval that a text begins with.
Quantity Context::interval(const Value& value, std::string_view text, std::string_view what) const {
  const IntervalText given{value, text, what};
  const bool has_brackets = part_of(text, 0, text.size()).text.starts_with('[');
  const auto [lower, upper, inside] = has_brackets ? ends_in_brackets(given) : ends_around(given);
  if (lower.value > upper.value || (is_exact() && lower.exact.lo > upper.exact.hi))
    document_.fail(value, fmt::format("{} is the interval '{}', whose lower end is above the upper "
                                      "one; expected [{}, {}]",
                                      what, text, upper.value, lower.value));
  Quantity result{.value = inside, .is_interval = true};
  result.exact = {lower.exact.lo, upper.exact.hi};
  return result;
}

}  // namespace perp::reader

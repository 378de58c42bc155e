// Literals and data of laws as exact numbers, for enclosures: EquationTexts where numbers are
// exact.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include <perp/models/language/exact_numbers.hpp>
#include <perp/models/language/lowering/algebra.hpp>
#include <perp/models/language/reader/equation_texts.hpp>

namespace perp::reader {
namespace {

using enclosure::Interval;

constexpr std::size_t data_of_a_law = 4;  // shift, width, offset, scale

Interval infinite(double value) {
  Interval both;
  both.lo = both.hi = value;
  return both;
}

/// A law of a closed range of μ, [0, 1], [0, inf] or [-inf, 0].
UnitLaw in_unit_range(const NamedLaw& law, const Interval& lower, const Interval& upper) {
  UnitLaw result;
  if (std::isinf(lower.lo)) {
    result.offset = upper;
    result.law = law.make(std::vector<double>{-inf, 0}.data());
  } else if (std::isinf(upper.lo)) {
    result.offset = lower;
    result.law = law.make(std::vector<double>{0, inf}.data());
  } else {
    result.offset = lower;
    result.scale = upper - lower;
    result.law = law.make(std::vector<double>{0, 1}.data());
    return result;
  }
  result.scale = Interval(1);
  return result;
}

bool is_double(const Interval& number) { return number.lo == number.hi; }

/// A law of the argument w' = (w - l)/(u - l), where its thresholds are 0 and 1.
UnitLaw with_unit_thresholds(const NamedLaw& law, const Interval& lower, const Interval& upper) {
  UnitLaw result{law.make(std::vector<double>{0, 1}.data())};
  result.shift = lower;
  result.width = upper - lower;
  const std::string_view name = law.name;
  if (name == "saturation") result.offset = lower;
  if (name == "dead_zone") result.offset = Interval(0);
  if (result.offset) result.scale = result.width;
  return result;
}

/// The value of a line of constants, both bounds infinite where it is; none: it is not constant, or has no value.
std::optional<Interval> constant_value(lowering::Algebra& algebra, int line) {
  if (!algebra.is_known(line) || std::isnan(algebra.value(line))) return std::nullopt;
  if (const Interval value = algebra.interval(line); value.is_bounded()) return value;
  return std::isinf(algebra.value(line)) ? std::optional(infinite(algebra.value(line))) : std::nullopt;
}

/// The formula of an output, that of a table is its 'value'; null: it has none.
const Value* formula_of(const Member& output) {
  if (output.value.kind != Value::Kind::table) return &output.value;
  const Member* own = output.value.find("value");
  return own == nullptr ? nullptr : &own->value;
}

}  // namespace

UnitLaw unit_law(const Document& document, const Value& value, const NamedLaw& law,
                 const std::vector<Interval>& numbers) {
  std::vector<double> nearest;
  for (const Interval& number : numbers)
    nearest.push_back(std::isinf(number.lo) ? number.lo : enclosure::middle(number));
  UnitLaw plain{make_law(document, value, law, nearest)};
  if (std::all_of(numbers.begin(), numbers.end(), is_double)) return plain;

  // λ = l + (u - l) μ for cones and saturations; thresholds move w.
  const Interval &lower = numbers[0], &upper = numbers[1];
  if (!enclosure::certainly_less(lower, upper))
    document.fail(value, fmt::format("the numbers of law '{}' are not certainly in order; expected "
                                     "the first below the second, or doubles",
                                     law.name));
  const std::string_view name = law.name;
  if (name == "relay" || name == "normal_cone" || name == "box")
    return in_unit_range(law, lower, upper);
  return with_unit_thresholds(law, lower, upper);
}

/// Those of a formula, or of all formulas below it.
void EquationTexts::collect_literals(const Value& value) {
  if (value.kind == Value::Kind::text) literals_.add(value.text);
  if (value.kind == Value::Kind::number) literals_.add(context_.document().literal(value));
  for (const Value& item : value.items) collect_literals(item);
  for (const Member& member : value.members) collect_literals(member.value);
}

void EquationTexts::collect_all_literals() {
  // Names and units are texts too, but no formulas.
  const auto collect = [&](const Value& table, const char* key) {
    if (const Member* member = table.find(key)) collect_literals(member->value);
  };
  collect(table_, "equations");
  if (const Member* outputs = table_.find("outputs"))
    for (const Member& output : outputs->value.members)
      if (const Value* formula = formula_of(output)) collect_literals(*formula);
  for (const Value* law : laws_) {
    if (law->kind == Value::Kind::text) collect_literals(*law);
    collect(*law, "law");
  }
  if (const Member* when = table_.find("when"))
    for (const Value& reset : when->value.items) {
      collect(reset, "condition");
      collect(reset, "set");
    }
}

void EquationTexts::reserve_law_data() {
  for (std::size_t i = 0; i < laws_.size(); ++i)
    for (const char* what : {"shift", "width", "offset", "scale"})
      literals_.add(fmt::format("{} of law {}", what, i + 1), Interval(0), 0);
}

/// The number of the parameter that holds it.
int EquationTexts::set_law_data(std::size_t law, std::size_t number, const Interval& value) {
  const std::size_t place =
      model_->parameters.size() - data_of_a_law * (laws_.size() - law) + number;
  model_->parameters[place] = enclosure::middle(value);
  model_->exact->intervals[place] = value;
  return static_cast<int>(place);
}

int EquationTexts::parameter_line(int number) {
  return model_->tape.input(model_->n() + static_cast<int>(laws_.size()) + number);
}

StatedLaw EquationTexts::exact_law(const Value& text, const LawStatement& statement,
                                   const NamedLaw& law, std::size_t number) {
  const int first = model_->n() + static_cast<int>(laws_.size());
  std::vector<Interval> numbers;
  lowering::Algebra algebra(model_->tape, first, model_->parameters, model_->exact_parameters());
  for (const int line : statement.numbers) {
    const std::string what = fmt::format("number {} of law '{}'", numbers.size() + 1, law.name);
    context_.refuse_intervals(text, statement.law_offset, what, model_->tape, line, first);
    const std::optional<Interval> constant = constant_value(algebra, line);
    if (!constant)
      context_.document().fail(
          text, statement.law_offset,
          fmt::format("{} is not constant; expected numbers and parameters", what));
    numbers.push_back(*constant);
  }
  const UnitLaw unit = unit_law(context_.document(), text, law, numbers);
  StatedLaw stated{unit.law, statement.argument};
  Tape& tape = model_->tape;
  if (unit.shift) {
    const int shift = parameter_line(set_law_data(number, 0, *unit.shift));
    const int width = parameter_line(set_law_data(number, 1, *unit.width));
    const int above = tape.apply(Operation::subtract, stated.argument, shift);
    stated.argument = tape.apply(Operation::divide, above, width);
  }
  if (unit.scale) {
    stated.offset = set_law_data(number, 2, *unit.offset);
    stated.scale = set_law_data(number, 3, *unit.scale);
  }
  return stated;
}

namespace {

/// What a law allows of λ for w in an interval; none: nothing.
Interval multipliers_over(const Law& law, const Interval& w) {
  Interval all = Interval::none();
  for (const Branch& branch : law.branches) {
    const Interval a(branch.a), c(branch.c), range(branch.lambda.lower, branch.lambda.upper);
    const auto on = branch.b == 0 ? intersection(c / a, w)
                                  : intersection(Interval(branch.w.lower, branch.w.upper), w);
    if (!on) continue;
    const auto lambda =
        branch.b == 0 ? range : intersection((c - a * *on) / Interval(branch.b), range);
    if (lambda) all = all.has_value() ? hull(all, *lambda) : *lambda;
  }
  return all;
}

/// Puts multipliers among the inputs whose arguments have values by now. False: there is no other.
bool add_multipliers(const Dcs& system, const std::vector<Interval>& values,
                     std::vector<Interval>& inputs) {
  bool is_new = false;
  for (int i = 0; i < system.m(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    Interval& lambda = inputs[static_cast<std::size_t>(system.multiplier_input(i))];
    const Interval& w = values[static_cast<std::size_t>(system.G[at])];
    if (lambda.has_value() || !w.has_value()) continue;
    lambda = multipliers_over(system.laws[at], w);
    is_new = is_new || lambda.has_value();
  }
  return is_new;
}

/// The intervals of all lines over the starts, with `unknown` for derivatives and guesses.
std::vector<Interval> values_at_start(const Dcs& system, double t,
                                      const std::vector<Interval>& starts,
                                      const std::vector<Interval>& parameters,
                                      const Interval& unknown) {
  const int n = system.n();
  std::vector<Interval> inputs(static_cast<std::size_t>(system.parameter_input(0)),
                               Interval::none());
  inputs[0] = Interval(t);
  for (int j = 0; j < n; ++j)
    inputs[static_cast<std::size_t>(system.derivative_input(j))] =
        inputs[static_cast<std::size_t>(system.variable_input(j))] = unknown;
  const std::vector<bool> needed = needed_lines(system.tape, system.F);
  for (std::size_t k = 0; k < needed.size(); ++k) {
    const Instruction& line = system.tape[static_cast<int>(k)];
    const int j = line.a - system.derivative_input(0);
    if (needed[k] && line.operation == Operation::input && 0 <= j && j < n)
      inputs[static_cast<std::size_t>(system.variable_input(j))] =
          starts[static_cast<std::size_t>(j)];
  }
  inputs.insert(inputs.end(), parameters.begin(), parameters.end());
  std::vector<Interval> values(static_cast<std::size_t>(system.tape.size()));
  system.tape.evaluate(std::span<const Interval>(inputs), std::span<Interval>(values));
  // arguments of laws may hold the multipliers of others
  while (add_multipliers(system, values, inputs))
    system.tape.evaluate(std::span<const Interval>(inputs), std::span<Interval>(values));
  return values;
}

/// The first of these laws that has no λ for any argument that the starts may give; -1: there is
/// none.
int first_law_elsewhere(const Dcs& system, const std::vector<Interval>& values, std::size_t laws) {
  for (std::size_t i = 0; i < std::min(laws, system.laws.size()); ++i) {
    const Interval& w = values[static_cast<std::size_t>(system.G[i])];
    if (w.has_value() && !multipliers_over(system.laws[i], w).has_value())
      return static_cast<int>(i);
  }
  return -1;
}

/// The first needed line without a value whose operands have one; -1: there is none.
int first_without_value(const Tape& tape, int root, const std::vector<Interval>& values) {
  const std::vector<bool> needed = needed_lines(tape, std::span(&root, 1));
  const auto has_value = [&values](int line) {
    return line < 0 || values[static_cast<std::size_t>(line)].has_value();
  };
  for (int k = 0; k <= root; ++k)
    if (needed[static_cast<std::size_t>(k)] && tape[k].operation != Operation::input &&
        !has_value(k) && has_value(tape[k].a) && has_value(tape[k].b))
      return k;
  return -1;
}

}  // namespace

void EquationTexts::check_starts(const Dcs& system) const {
  const auto values_with = [&](const Interval& unknown) {
    return values_at_start(system, given_.run.span.start, given_.exact_numbers->starts,
                           model_->exact->intervals, unknown);
  };
  const std::vector<Interval> values = values_with(Interval::none());
  // of unknowns nothing is known but that they are numbers
  constexpr double unbounded = std::numeric_limits<double>::infinity();
  const std::vector<Interval> all_values = values_with(Interval(-unbounded, unbounded));
  const std::vector<std::string> names = given_.input_names();
  const int law = first_law_elsewhere(system, values, laws_.size());
  if (law >= 0) {
    const auto i = static_cast<std::size_t>(law);
    const Interval& w = values[static_cast<std::size_t>(system.G[i])];
    context_.document().fail(
        *laws_[i],
        fmt::format("law '{}' has no branch for any of the starts: its argument is in [{:.6g}, "
                    "{:.6g}]; expected a consistent start, as one of perp jumps",
                    system.laws[i].name, w.lo, w.hi));
  }
  for (std::size_t i = 0; i < system.F.size(); ++i) {
    const Interval& difference = all_values[static_cast<std::size_t>(system.F[i])];
    if (difference.has_value() && !difference.contains(0.0))
      context_.document().fail(
          *equation_texts_[i],
          fmt::format("no start fulfils this equation: its sides differ by {:.6g} to {:.6g}; "
                      "expected a consistent start, as one of perp jumps",
                      difference.lo, difference.hi));
    if (system.m() > 0) continue;  // a formula need not have a value on the other side of a law
    const int line = first_without_value(system.tape, system.F[i], values);
    if (line < 0) continue;
    const Instruction& here = system.tape[line];
    const int operand = here.operation == Operation::divide ? here.b : here.a;
    const Interval& set = values[static_cast<std::size_t>(operand)];
    context_.document().fail(
        *equation_texts_[i],
        fmt::format("{} has no value everywhere on the set of starts: {} is in [{:.6g}, {:.6g}]; "
                    "expected starts and parameters within its domain: make their intervals "
                    "smaller",
                    print_expression(system.tape, line, names),
                    print_expression(system.tape, operand, names), set.lo, set.hi));
  }
}

void EquationTexts::complete(const std::vector<std::string>& multipliers,
                             ExactNumbers& numbers) const {
  numbers.names.insert(numbers.names.end(), literals_.texts().begin(), literals_.texts().end());
  numbers.values = model_->exact->intervals;
  const auto& rationals = literals_.numbers();
  numbers.rational_values.insert(numbers.rational_values.end(), rationals.begin(), rationals.end());
  for (const StatedLaw& law : model_->laws) numbers.multipliers.push_back({law.offset, law.scale});
  if (const Member* table = table_.find("restitution")) {
    numbers.restitution.assign(multipliers.size(), Interval(0));
    for (const Member& member : table->value.members) {
      if (context_.number(member.value, "restitution of '" + member.key + "'") != 0)
        context_.document().fail(member,
                                 fmt::format("restitution of '{}': impacts of laws are not "
                                             "enclosed; expected the impact as a reset (when)",
                                             member.key));
      const auto found = std::find(multipliers.begin(), multipliers.end(), member.key);
      numbers.restitution[static_cast<std::size_t>(found - multipliers.begin())] =
          context_.quantity(member.value, "restitution of '" + member.key + "'").exact;
    }
  }
}

}  // namespace perp::reader

#include <fmt/format.h>
#include <algorithm>
#include <iterator>

#include <perp/core/base/error.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/expression/polynomial.hpp>
#include <perp/models/language/hybrid/hybrid_model.hpp>

namespace perp {

std::vector<double> HybridModel::parameter_values() const {
  std::vector<double> values;
  for (const auto& parameter : head.parameters) values.push_back(parameter.second);
  return values;
}

std::vector<int> HybridModel::states() const {
  std::vector<int> rows = f;
  rows.insert(rows.end(), g.begin(), g.end());
  const std::vector<bool> needed = needed_lines(tape, rows);
  std::vector<char> is_state(at(n()), 0);
  for (int line = 0; line < tape.size(); ++line) {
    const Instruction& here = tape[line];
    if (here.operation != Operation::input || !needed[at(line)]) continue;
    if (here.a >= derivative_input(0) && here.a < variable_input(0))
      is_state[at(here.a - derivative_input(0))] = 1;
  }
  std::vector<int> list;
  for (int j = 0; j < n(); ++j)
    if (is_state[at(j)] != 0) list.push_back(j);
  return list;
}

std::vector<std::string> HybridModel::input_names() const {
  std::vector<std::string> names{"t"};
  for (const Variable& variable : head.variables) names.push_back("der(" + variable.name + ")");
  for (const Variable& variable : head.variables) names.push_back(variable.name);
  for (const Binary& binary : binaries) names.push_back(binary.name);
  for (const auto& parameter : head.parameters) names.push_back(parameter.first);
  for (const KnownInput& input : inputs) names.push_back(input.name);
  return names;
}

std::string HybridModel::row_name(int row) const {
  const int equations = static_cast<int>(f.size());
  return row < equations ? fmt::format("f{}", row + 1) : constraints[at(row - equations)].name;
}

void HybridModel::check_data_at(double t) const {
  for (const KnownInput& input : inputs) {
    if (!input.data) continue;
    const DataTable& data = DataTable::of(tape[tape[input.line].b].value);
    if (t < data.start() || t > data.end())
      throw InvalidInput(fmt::format("t = {} is outside of the data of input '{}', {} to {}", t,
                                     input.name, data.start(), data.end()));
  }
}

Tape HybridModel::without_inputs(std::vector<int>& rows) const {
  rows = f;
  rows.insert(rows.end(), g.begin(), g.end());
  Tape open;
  std::vector<int> place(at(tape.size()), -1);
  std::vector<int> wanted = rows;
  std::ranges::transform(inputs, std::back_inserter(wanted), &KnownInput::line);
  const std::vector<bool> needed = needed_lines(tape, wanted);
  const auto moved = [&place](int operand) { return operand < 0 ? -1 : place[at(operand)]; };
  // Input u_k stands for the line of its formula, which comes before every line that holds u_k.
  for (int line = 0; line < tape.size(); ++line) {
    if (!needed[at(line)]) continue;
    const Instruction& here = tape[line];
    int& to = place[at(line)];
    if (here.operation == Operation::constant)
      to = open.constant(here.value);
    else if (here.operation == Operation::input)
      to = here.a >= known_input(0) ? place[at(inputs[at(here.a - known_input(0))].line)]
                                    : open.input(here.a);
    else
      to = open.apply(here.operation, moved(here.a), moved(here.b));
  }
  for (int& row : rows) row = place[at(row)];
  return open;
}

Tape HybridModel::closed(std::vector<int>& rows) const {
  if (inputs.empty()) {
    rows = f;
    rows.insert(rows.end(), g.begin(), g.end());
    return bind_inputs(tape, parameter_input(0), parameter_values(), rows);
  }
  const Tape open = without_inputs(rows);
  return bind_inputs(open, parameter_input(0), parameter_values(), rows);
}

namespace {

/// Is the line this number?
bool holds_number(const Tape& tape, int line, double value) {
  return line >= 0 && tape[line].operation == Operation::constant && tape[line].value == value;
}

/// Are both operands numbers? An operation of one operand has no b.
bool are_numbers(const Tape& tape, int a, int b) {
  const auto is_number = [&](int line) { return tape[line].operation == Operation::constant; };
  return a >= 0 && is_number(a) && (b < 0 || is_number(b));
}

/// a b without factors 0 and 1.
int folded_product(Tape& tape, int a, int b) {
  if (holds_number(tape, a, 0) || holds_number(tape, b, 0)) return tape.constant(0);
  if (holds_number(tape, a, 1)) return b;
  if (holds_number(tape, b, 1)) return a;
  return tape.apply(Operation::multiply, a, b);
}

/// a + b or a - b without the number 0.
int folded_sum(Tape& tape, Operation operation, int a, int b) {
  const bool is_sum = operation == Operation::add;
  if (is_sum && holds_number(tape, a, 0)) return b;
  if (holds_number(tape, b, 0)) return a;
  if (holds_number(tape, a, 0)) return tape.apply(Operation::negate, b);
  return tape.apply(operation, a, b);
}

/// The operation on two lines, a number where both are numbers.
int folded(Tape& tape, Operation operation, int a, int b) {
  if (are_numbers(tape, a, b)) {
    const double x = tape[a].value, y = b < 0 ? x : tape[b].value;
    return tape.constant(apply_operation(operation, x, y));
  }
  if (operation == Operation::multiply) return folded_product(tape, a, b);
  if (operation == Operation::add || operation == Operation::subtract) return folded_sum(tape, operation, a, b);
  if (operation == Operation::divide && holds_number(tape, b, 1)) return a;
  return tape.apply(operation, a, b);
}

/// `number_of`: of an input, empty where it stays one.
template <class NumberOf>
int with_numbers(Tape& tape, int line, const NumberOf& number_of) {
  std::map<int, int> place;
  for (const int k : lines_below(tape, line)) {
    const Instruction here = tape[k];
    if (here.operation == Operation::input) {
      const std::optional<double> known = number_of(here.a);
      place[k] = known ? tape.constant(*known) : k;
    } else if (here.operation == Operation::constant) {
      place[k] = k;
    } else {
      place[k] = folded(tape, here.operation, here.a < 0 ? -1 : place.at(here.a),
                        here.b < 0 ? -1 : place.at(here.b));
    }
  }
  return place.at(line);
}

}  // namespace

int with_values(Tape& tape, int line, const std::map<int, double>& values) {
  return with_numbers(tape, line, [&](int input) {
    const auto known = values.find(input);
    return known == values.end() ? std::nullopt : std::optional(known->second);
  });
}

int with_zeros(Tape& tape, int line, int end) {
  return with_numbers(tape, line, [&](int input) { return input < end ? std::optional(0.0) : std::nullopt; });
}

}  // namespace perp

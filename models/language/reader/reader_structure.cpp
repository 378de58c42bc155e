#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/core/state_derivative.hpp>
#include <perp/core/system/sparse_lcs.hpp>
#include <perp/models/language/exact_numbers.hpp>
#include <perp/models/language/lowering/algebra.hpp>
#include <perp/models/language/reader/equation_texts.hpp>
#include <perp/models/language/structure.hpp>

namespace perp::reader {
namespace {

constexpr std::size_t most_named = 8;

std::string listed(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(most_named, names.size());
  std::string text;
  for (std::size_t k = 0; k < shown; ++k) text += (k > 0 ? ", " : "") + names[k];
  return shown < names.size() ? fmt::format("{} and {} more", text, names.size() - shown) : text;
}

/// Has an operation no finite value whatever its unknown operands are? `x`, `y`: its operands have
/// none; `known_y`: the number that the second is, NaN for one that is not known.
bool has_no_value(Operation operation, bool x, bool y, double known_y) {
  switch (operation) {
    case Operation::negate:
    case Operation::abs: return x;
    case Operation::add:
    case Operation::subtract:
    case Operation::multiply: return x || y;
    case Operation::divide: return x || known_y == 0;
    default: return false;  // atan(inf) is a number
  }
}

/// The first part, if any, that makes the value of each line of a tape infinite or NaN for every
/// state; -1: none.
std::vector<int> parts_without_value(const Dcs& system) {
  Tape tape = system.tape;
  lowering::Algebra algebra(tape, system.parameter_input(0), system.parameters);
  std::vector<int> parts(static_cast<std::size_t>(tape.size()), -1);
  std::vector<char> is_zero(parts.size(), 0);  // of numbers and of their products with what is finite
  const auto part_of = [&](int line) { return line < 0 ? -1 : parts[static_cast<std::size_t>(line)]; };
  for (int line = 0; line < tape.size(); ++line) {
    const Instruction here = tape[line];
    int& part = parts[static_cast<std::size_t>(line)];
    const auto zero = [&](int operand) {
      return operand >= 0 && is_zero[static_cast<std::size_t>(operand)] != 0;
    };
    if (algebra.is_known(line)) {
      if (!std::isfinite(algebra.value(line))) part = line;
      is_zero[static_cast<std::size_t>(line)] = algebra.value(line) == 0;
      continue;
    }
    if (here.operation == Operation::input) continue;
    is_zero[static_cast<std::size_t>(line)] =
        here.operation == Operation::multiply && (zero(here.a) || zero(here.b));
    const int first = part_of(here.a), second = part_of(here.b);
    const double known_y = zero(here.b)                                  ? 0
                           : here.b >= 0 && algebra.is_known(here.b) ? algebra.value(here.b)
                                                                     : std::nan("");
    if (has_no_value(here.operation, first >= 0, second >= 0, known_y))
      part = first >= 0 ? first : second >= 0 ? second : line;
  }
  return parts;
}

}  // namespace

void EquationTexts::check_values(const Model& model, const Dcs& system) const {
  const std::vector<std::string> names = model.input_names();
  const std::vector<int> parts = parts_without_value(system);
  for (std::size_t row = 0; row < system.F.size(); ++row) {
    const int part = parts[static_cast<std::size_t>(system.F[row])];
    if (part < 0) continue;
    context_.document().fail(
        *equation_texts_[row],
        fmt::format("equation {} has a finite value for no state: a part of it, '{}', has none; "
                    "expected numbers and parameters by which nothing is divided by 0",
                    row + 1, print_expression(system.tape, part, names)));
  }
}

std::string EquationTexts::row_name(int row) const {
  const auto equations = model_->equations.size();
  const auto k = static_cast<std::size_t>(row);
  if (k < equations) return fmt::format("\"{}\"", equation_texts_[k]->text);
  return fmt::format("law '{}'", model_->laws[k - equations].law.name);
}

void EquationTexts::check_structure() const {
  const Structure structure = structure_of(*model_);
  const Document& document = context_.document();
  const auto n = static_cast<std::size_t>(model_->n());
  const std::size_t found = model_->equations.size();
  for (std::size_t row = 0; row < found; ++row)
    if (structure.columns_of_row[row].empty())
      document.fail(*equation_texts_[row],
                    fmt::format("equation {} has no unknown; expected a variable in it", row + 1));
  if (structure.matching.is_perfect()) return;

  std::vector<std::string> unmatched;
  for (std::size_t j = 0; j < structure.matching.row_of_column.size(); ++j)
    if (structure.matching.row_of_column[j] < 0) unmatched.push_back(model_->scope.names[j]);
  const std::vector<int> rows = overdetermined_rows(structure);
  std::vector<std::string> row_names;
  for (const int row : rows) row_names.push_back(row_name(row));
  std::vector<std::string> columns;
  for (const int column : columns_of(structure, rows))
    columns.push_back(model_->scope.names[static_cast<std::size_t>(column)]);
  const std::string too_many = fmt::format("{} hold{} only {}", listed(row_names),
                                           row_names.size() == 1 ? "s" : "", listed(columns));

  const std::string counts =
      fmt::format("there {} {} equation{} for {} variable{}", found == 1 ? "is" : "are", found,
                  found == 1 ? "" : "s", n, n == 1 ? "" : "s");
  const Value& equations = table_.find("equations")->value;
  if (found < n && rows.empty())
    document.fail(equations, fmt::format("{}; nothing determines {}", counts, listed(unmatched)));
  if (found > n && unmatched.empty())
    document.fail(equations, fmt::format("{}; {}", counts, too_many));
  const std::size_t first = std::min(static_cast<std::size_t>(rows.front()), found - 1);
  document.fail(*equation_texts_[first],
                fmt::format("the system is structurally singular: {}, and nothing determines {}",
                            too_many, listed(unmatched)));
}

LoweredModel EquationTexts::lowered() const {
  try {
    return lower(*model_);
  } catch (const FormError& error) {
    context_.document().fail(*texts_[static_cast<std::size_t>(error.place().text)],
                             error.place().offset, error.what());
  }
}

void check_dense(const Document& document, std::size_t variables) {
  if (variables <= most_dense_variables) return;
  document.fail(*document.root().find("variables"),
                fmt::format("the model has {} variables; expected at most {}: steps are made with dense matrices, with "
                            "sparse ones by perp run and perp check with backward_euler",
                            variables, most_dense_variables));
}

namespace {

/// Many variables are for runs by steps that need no full matrices.
void check_size(const Context& context, const Model& model) {
  const bool may_be_large = context.known().hybrid && !model.exact_numbers && model.run.scheme == "backward_euler";
  if (model.variables.size() <= most_dense_variables || may_be_large) return;
  check_dense(context.document(), model.variables.size());
}

}  // namespace

void read_equations(const Context& context, const Value& table, Model& model) {
  context.check_kind(table, Value::Kind::table, "model");
  context.check_keys(table, "[model]", {"equations", "laws", "outputs", "restitution", "when"});
  EquationTexts texts(context, table, model);
  texts.read_laws();
  texts.read_equations();
  texts.read_outputs();
  texts.read_resets();
  texts.close();
  texts.check_structure();
  auto [system, outputs] = texts.lowered();

  for (std::size_t i = 0; i < system.laws.size(); ++i)
    model.multipliers.push_back(i < texts.model().laws.size() ? texts.multiplier(i) : "");
  model.outputs = texts.outputs();
  model.outputs.tape = system.tape;
  model.outputs.lines = outputs;
  model.outputs.multipliers = system.m();
  model.outputs.parameters = system.parameters;
  model.multiplier_units = texts.multiplier_units();
  model.multiplier_units.resize(model.multipliers.size());
  if (texts.has_derivatives()) model.outputs.derivative = StateDerivative(system);
  const std::vector<int> arguments = system.G;
  check_size(context, model);
  // Matrices are made of rounded numbers.
  if (std::optional<Lcs> matrices = model.exact_numbers ? std::nullopt : as_full_lcs(system))
    model.system = *std::move(matrices);
  else
    model.system = system;
  model.equations = std::move(system);
  if (!model.exact_numbers) texts.check_values(model, *model.equations);  // else check_starts
  model.restitution = texts.restitution(model.multipliers);
  if (model.exact_numbers) {
    texts.complete(model.multipliers, *model.exact_numbers);
    texts.check_starts(*model.equations);
    model.exact_numbers->multipliers.resize(model.laws().size());
  }
  const std::vector<std::string> inputs = model.input_names();
  for (const int line : arguments)
    model.arguments.push_back(print_expression(model.outputs.tape, line, inputs));
}

}  // namespace perp::reader

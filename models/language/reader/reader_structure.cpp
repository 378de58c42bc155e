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

/// Finds the lines of a tape that are infinite or NaN for every state.
class LinesWithoutValue {
 public:
  explicit LinesWithoutValue(const Dcs& system)
      : tape_(system.tape),
        algebra_(tape_, system.parameter_input(0), system.parameters),
        parts_(static_cast<std::size_t>(tape_.size()), -1),
        is_zero_(parts_.size(), 0) {
    for (int line = 0; line < tape_.size(); ++line) visit(line);
  }

  /// The first part, if any, that makes the value of a line infinite or NaN; -1: none.
  [[nodiscard]] int part(int line) const { return line < 0 ? -1 : parts_[static_cast<std::size_t>(line)]; }

 private:
  [[nodiscard]] bool is_zero(int line) const {
    return line >= 0 && is_zero_[static_cast<std::size_t>(line)] != 0;
  }

  /// The number that a line is; NaN: it is not known.
  double known_value(int line) {
    if (is_zero(line)) return 0;
    return line >= 0 && algebra_.is_known(line) ? algebra_.value(line) : std::nan("");
  }

  /// Notes what is known of a line whose operands are visited.
  void visit(int line) {
    const auto place = static_cast<std::size_t>(line);
    if (algebra_.is_known(line)) {
      if (!std::isfinite(algebra_.value(line))) parts_[place] = line;
      is_zero_[place] = algebra_.value(line) == 0;
    } else if (tape_[line].operation != Operation::input) {
      visit_operation(line);
    }
  }

  /// The same of an operation on what is not all known.
  void visit_operation(int line) {
    const auto place = static_cast<std::size_t>(line);
    const Instruction& here = tape_[line];
    is_zero_[place] = here.operation == Operation::multiply && (is_zero(here.a) || is_zero(here.b));
    const int first = part(here.a), second = part(here.b);
    if (has_no_value(here.operation, first >= 0, second >= 0, known_value(here.b)))
      parts_[place] = first >= 0 ? first : second >= 0 ? second : line;
  }

  Tape tape_;
  lowering::Algebra algebra_;
  std::vector<int> parts_;
  std::vector<char> is_zero_;  // of numbers and of their products with what is finite
};

/// "there are 2 equations for 3 variables"
std::string counted(std::size_t equations, std::size_t variables) {
  return fmt::format("there {} {} equation{} for {} variable{}", equations == 1 ? "is" : "are", equations,
                     equations == 1 ? "" : "s", variables, variables == 1 ? "" : "s");
}

/// The names of the variables that no row determines.
std::vector<std::string> undetermined(const Structure& structure, const std::vector<std::string>& names) {
  std::vector<std::string> list;
  for (std::size_t j = 0; j < structure.matching.row_of_column.size(); ++j)
    if (structure.matching.row_of_column[j] < 0) list.push_back(names[j]);
  return list;
}

}  // namespace

void EquationTexts::check_values(const Model& model, const Dcs& system) const {
  const std::vector<std::string> names = model.input_names();
  const LinesWithoutValue without_value(system);
  for (std::size_t row = 0; row < system.F.size(); ++row) {
    const int part = without_value.part(system.F[row]);
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

void EquationTexts::check_unknowns(const Structure& structure) const {
  for (std::size_t row = 0; row < model_->equations.size(); ++row)
    if (structure.columns_of_row[row].empty())
      context_.document().fail(
          *equation_texts_[row],
          fmt::format("equation {} has no unknown; expected a variable in it", row + 1));
}

std::string EquationTexts::contents_of(const Structure& structure, const std::vector<int>& rows) const {
  std::vector<std::string> row_names;
  for (const int row : rows) row_names.push_back(row_name(row));
  std::vector<std::string> columns;
  for (const int column : columns_of(structure, rows))
    columns.push_back(model_->scope.names[static_cast<std::size_t>(column)]);
  return fmt::format("{} hold{} only {}", listed(row_names), row_names.size() == 1 ? "s" : "",
                     listed(columns));
}

void EquationTexts::check_structure() const {
  const Structure structure = structure_of(*model_);
  check_unknowns(structure);
  if (structure.matching.is_perfect()) return;

  const std::vector<std::string> unmatched = undetermined(structure, model_->scope.names);
  const std::vector<int> rows = overdetermined_rows(structure);
  const std::string too_many = contents_of(structure, rows);

  const Document& document = context_.document();
  const auto n = static_cast<std::size_t>(model_->n());
  const std::size_t found = model_->equations.size();
  const std::string counts = counted(found, n);
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

void check_size(const Context& context, const Model& model) {
  const bool may_be_large = context.known().hybrid && !model.exact_numbers && model.run.scheme == "backward_euler";
  if (model.variables.size() <= most_dense_variables || may_be_large) return;
  check_dense(context.document(), model.variables.size());
}

namespace {

/// Outputs, and names and units of multipliers, of the lowered system, on whose tape the outputs are `lines`.
void set_outputs(const EquationTexts& texts, const Dcs& system, const std::vector<int>& lines, Model& model) {
  for (std::size_t i = 0; i < system.laws.size(); ++i)
    model.multipliers.push_back(i < texts.model().laws.size() ? texts.multiplier(i) : "");
  model.outputs = texts.outputs();
  model.outputs.tape = system.tape;
  model.outputs.lines = lines;
  model.outputs.multipliers = system.m();
  model.outputs.parameters = system.parameters;
  model.multiplier_units = texts.multiplier_units();
  model.multiplier_units.resize(model.multipliers.size());
  if (texts.has_derivatives()) model.outputs.derivative = StateDerivative(system);
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
  set_outputs(texts, system, outputs, model);
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

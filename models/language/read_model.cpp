#include <fmt/format.h>
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <perp/core/base/nearest_name.hpp>
#include <perp/models/language/exact_numbers.hpp>
#include <perp/models/language/families/families.hpp>
#include <perp/models/language/hybrid/read_hybrid.hpp>
#include <perp/models/language/reader/context.hpp>
#include <perp/models/language/rebinding.hpp>

namespace perp {
namespace {

using reader::Context;
using reader::Document;
using reader::Member;
using reader::Value;

constexpr std::size_t largest_file = 64UL << 20U;

std::string read_text(const std::string& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error))
    throw ModelError(file + ":1:1: is a directory; expected a model file", {});
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    throw FileError(fmt::format("{}:1:1: cannot be opened; expected a model file", file));
  // In pieces, because a pipe or a device has no size.
  std::string text;
  std::string buffer(1U << 16U, '\0');
  while (text.size() <= largest_file &&
         (stream.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) ||
          stream.gcount() > 0))
    text.append(buffer, 0, static_cast<std::size_t>(stream.gcount()));
  if (stream.bad()) throw FileError(fmt::format("{}:1:1: cannot be read", file));
  if (text.size() > largest_file)
    throw ModelError(fmt::format("{}:1:1: is larger than {} MiB; expected a model file", file,
                                 largest_file >> 20U),
                     {});
  text.shrink_to_fit();
  return text;
}

/// The names of a table's members, checked: names, not words of the language, not used before.
std::vector<std::string> member_names(const Context& context, const Value* table, const char* what,
                                      const std::vector<std::string>& used) {
  std::vector<std::string> names;
  if (table == nullptr) return names;
  for (const Member& member : table->members) {
    if (!is_name(member.key))
      context.document().fail(member,
                              fmt::format("'{}' cannot be the name of a {}; expected letters, "
                                          "digits and _, not beginning with a digit",
                                          member.key, what));
    if (is_reserved_word(member.key))
      context.document().fail(member,
                              fmt::format("'{}' is a word of the language; expected another "
                                          "name for a {}",
                                          member.key, what));
    if (std::find(used.begin(), used.end(), member.key) != used.end())
      context.document().fail(
          member, fmt::format("'{}' is a parameter already; expected another name for a {}",
                              member.key, what));
    names.push_back(member.key);
  }
  return names;
}

const Value* find_table(const Context& context, const char* name) {
  const Member* member = context.document().root().find(name);
  if (member == nullptr) return nullptr;
  context.check_kind(member->value, Value::Kind::table, name);
  return &member->value;
}

/// Notes what a parameter, or the start of a variable, of this number depends on.
void note_slopes(const reader::Quantity& quantity, std::size_t of, bool is_start, Model& model) {
  for (const auto& [on, slope] : quantity.slopes)
    model.dependences.push_back({static_cast<int>(of), is_start, on, slope});
  if (!quantity.kinks) return;
  model.kinked_formulas.push_back(
      {static_cast<int>(of), is_start, [kinks = *quantity.kinks](std::span<const double> along) { return kinks.are_smooth_along(along); }});
}

/// Is the model given by full rows of matrices?
bool has_full_rows(const Context& context, const Document& document) {
  if (is_hybrid(document) || find_table(context, "model") != nullptr) return false;
  const Value* system = find_table(context, "system");
  const Member* A = system == nullptr ? nullptr : system->find("A");
  return A == nullptr || A->value.kind != Value::Kind::table;
}

/// Says whose middle is taken where numbers are not exact.
void note_interval(const std::string& name, const Value& text, const reader::Quantity& value,
                   Model& model) {
  if (value.is_interval && !model.exact_numbers && text.kind == Value::Kind::text &&
      reader::is_interval_text(text.text))
    model.midpoints.push_back(fmt::format("{} = {}", name, text.text));
}

/// Of a parameter or a variable with this number, where it is one of intervals.
void note_formula(const reader::Quantity& quantity, std::size_t number,
                  std::map<int, enclosure::ExactFormula>& formulas) {
  if (quantity.formula) formulas[static_cast<int>(number)] = *quantity.formula;
}

void read_parameters(Context& context, const Value* table, const std::vector<std::string>& names,
                     Model& model) {
  context.set_elsewhere(names, "it is defined further down; a parameter may use those above it");
  for (const std::string& name : names) {
    const Value& text = *context.find(table, "parameters", name);
    const reader::Quantity value = context.quantity(text, "parameter '" + name + "'");
    context.add_parameter(name, value);
    note_slopes(value, model.parameters.size(), false, model);
    model.parameters.emplace_back(name, value.value);
    note_interval(name, text, value, model);
    if (!model.exact_numbers) continue;
    note_formula(value, model.exact_numbers->values.size(),
                 model.exact_numbers->parameter_formulas);
    model.exact_numbers->names.push_back(name);
    if (value.is_disturbance)
      model.exact_numbers->disturbances.push_back(
          static_cast<int>(model.exact_numbers->values.size()));
    model.exact_numbers->values.push_back(value.exact);
    model.exact_numbers->rational_values.push_back(value.rational);
  }
}

/// bounds = [lower, upper], one of them finite.
Range read_bounds(const Context& context, const Value& value, const std::string& what) {
  const Range range = context.range(value, "bounds of " + what, reader::Finite::no);
  if (!(range.lower < range.upper))
    context.document().fail(value, fmt::format("bounds of {} are [{}, {}]; expected lower < upper",
                                               what, range.lower, range.upper));
  if (range.lower == inf || range.upper == -inf || (range.lower == -inf && range.upper == inf))
    context.document().fail(value, fmt::format("bounds of {} are [{}, {}], which bound nothing; "
                                               "expected a finite number",
                                               what, range.lower, range.upper));
  return range;
}

/// at_bounds = "end" (the default) or "event".
bool read_at_bounds(const Context& context, const Member& member, const Variable& variable) {
  if (variable.bounds == Range{})
    context.document().fail(member, fmt::format("variable '{}' has no bounds, so that at_bounds has "
                                                "no effect; expected bounds = [lower, upper]",
                                                variable.name));
  const std::vector<std::string> words{"end", "event"};
  const std::string word = context.text(member.value, "at_bounds of variable '" + variable.name + "'");
  if (word == words[0] || word == words[1]) return word == words[0];
  context.document().fail(member.value,
                          fmt::format("at_bounds of variable '{}' is '{}'; expected end or event{}",
                                      variable.name, word, suggestion(word, words)));
}

/// The usual size of a variable, > 0.
double read_nominal(const Context& context, const Value& value, const std::string& what) {
  const double nominal = context.number(value, "nominal of " + what);
  if (nominal <= 0)
    context.document().fail(
        value, fmt::format("nominal of {} is {}; expected a number > 0", what, nominal));
  return nominal;
}

/// What the table of a variable holds besides its start.
void read_properties(const Context& context, const Value& table, const std::string& what, Variable& variable) {
  context.check_keys(table, what, {"at_bounds", "bounds", "nominal", "start", "unit"});
  if (const Member* bounds = table.find("bounds")) {
    if (context.is_exact())
      context.document().fail(
          *bounds, fmt::format("{} has bounds, which an enclosure does not watch; expected none",
                               what));
    variable.bounds = read_bounds(context, bounds->value, what);
  }
  if (const Member* at_bounds = table.find("at_bounds"))
    variable.ends_at_bounds = read_at_bounds(context, *at_bounds, variable);
  variable.unit = reader::read_unit(context, table, what);
  if (const Member* nominal = table.find("nominal")) {
    variable.nominal = read_nominal(context, nominal->value, what);
    variable.has_nominal = true;
  }
}

/// The value of a variable's start, which is what an override of the variable replaces; null: it has none.
const Value* start_of(const Context& context, const std::string& name, const Value& value) {
  if (context.is_overridden("variables", name)) return context.find(nullptr, "variables", name);
  if (value.kind != Value::Kind::table) return &value;
  const Member* start = value.find("start");
  return start == nullptr ? nullptr : &start->value;
}

void read_variable(const Context& context, const std::string& name, const Value& value,
                   Model& model) {
  const std::string what = "variable '" + name + "'";
  Variable variable{.name = name};
  if (value.kind == Value::Kind::table) read_properties(context, value, what, variable);
  reader::Quantity at_start{.rational = Rational(0)};
  if (const Value* start = start_of(context, name, value)) {
    at_start = context.quantity(*start, "start of " + what);
    if (at_start.is_disturbance)
      context.document().fail(
          *start, fmt::format("start of {} is an interval at every t; expected one without", what));
    variable.start = at_start.value;
    note_slopes(at_start, model.variables.size(), true, model);
    note_interval(name, *start, at_start, model);
  }
  if (model.exact_numbers) {
    note_formula(at_start, model.exact_numbers->starts.size(), model.exact_numbers->start_formulas);
    model.exact_numbers->starts.push_back(at_start.exact);
    model.exact_numbers->rational_starts.push_back(at_start.rational);
  }
  model.variables.push_back(std::move(variable));
}

/// Does the exact solution of the file still begin with the run?
bool begins_exact(const Context& context, const Model& model) {
  return !context.is_overridden("run", "t") ||
         (!model.exact.empty() && model.run.span.start == model.exact.front().span.start);
}

/// Are parameters and starts those for which the exact solution of the file holds?
bool holds_exact(const Context& context, const Model& model) {
  for (const auto& parameter : model.parameters)
    if (context.is_overridden("parameters", parameter.first)) return false;
  for (const Variable& variable : model.variables)
    if (context.is_overridden("variables", variable.name)) return false;
  return true;
}

/// The exact solution, where it holds. A mistake in it is one whatever overrides say; the numbers of one that they drop are
/// not looked at.
void read_exact_solution(const Context& context, Model& model) {
  const Value* exact = find_table(context, "exact");
  if (exact == nullptr) return;
  if (!holds_exact(context, model)) return reader::check_exact(context, *exact, model.variables);
  model.exact = reader::read_exact(context, *exact, model.variables);
  if (!begins_exact(context, model)) model.exact.clear();
}

/// Units of the multipliers of a [system] by its laws.
void read_multiplier_units(const Context& context, const Value& system, Model& model) {
  const Member* laws = system.find("laws");
  if (laws == nullptr) return;
  for (const Value& law : laws->value.items)
    model.multiplier_units.push_back(reader::read_unit(context, law, fmt::format("law {}", model.multiplier_units.size() + 1)));
}

void read_system_or_equations(const Context& context, Model& model) {
  const Document& document = context.document();
  const Value* system = find_table(context, "system");
  const Value* equations = find_table(context, "model");
  if (system == nullptr && equations == nullptr)
    document.fail(document.root(),
                  "[system] is missing; expected E, A, B, b, C, D, q and laws, or [model] with "
                  "equations");
  if (system != nullptr && equations != nullptr)
    document.fail(*document.root().find("model"),
                  "[model] beside [system]; expected equations or matrices, one of them");
  if (equations != nullptr)
    read_equations(context, *equations, model);
  else if (model.exact_numbers)
    reader::read_exact_system(context, *system, model);
  else
    reader::read_matrices(context, *system, model);
  if (system != nullptr) read_multiplier_units(context, *system, model);
}

Model read_document(Document given, const ReadOptions& known) {
  const Document document = reader::with_families(std::move(given));
  if (reader::is_hybrid(document)) return reader::read_lowered(document, known);
  Context context(document, known);
  // "binaries", "inputs" and "multilinear", which are not there, may be meant by a misspelt key
  context.check_keys(document.root(), "the file",
                     {"binaries", "exact", "inputs", "model", "multilinear", "name", "parameters",
                      "run", "source", "system", "variables"});
  Model model = reader::read_head(context);
  read_system_or_equations(context, model);
  reader::check_effects(context, find_table(context, "run"), model);
  if (!known.exact) read_exact_solution(context, model);
  return model;
}

}  // namespace

namespace {

/// The names in [inputs] and [binaries].
reader::OverridableInputs overridable_inputs(const Context& context) {
  reader::OverridableInputs names;
  if (const Value* inputs = find_table(context, "inputs"))
    for (const Member& member : inputs->members) {
      names.inputs.push_back(member.key);
      if (member.value.kind != Value::Kind::table) continue;
      for (const char* key : {"between", "column", "file", "time"})
        names.data.push_back(member.key + "." + key);
    }
  if (const Value* binaries = find_table(context, "binaries"))
    for (const Member& member : binaries->members) names.binaries.push_back(member.key);
  return names;
}

}  // namespace

namespace reader {
namespace {

/// A model without content: what it is called and where it is from.
Model titled_model(const Context& context) {
  const Document& document = context.document();
  const Value& root = document.root();
  Model model;
  if (context.is_exact()) model.exact_numbers = std::make_shared<ExactNumbers>();
  model.file = document.file();
  model.hash = hash_of(document.digest(), document.overrides());
  model.name = std::filesystem::path(model.file).stem().string();
  if (const Member* member = root.find("name")) model.name = context.text(member->value, "name");
  if (const Member* member = root.find("source"))
    model.source = context.text(member->value, "source");
  return model;
}

}  // namespace

Model read_head(Context& context) {
  const Document& document = context.document();
  const Value& root = document.root();
  Model model = titled_model(context);
  const Value* parameters = find_table(context, "parameters");
  const auto parameter_names = member_names(context, parameters, "parameter", {});
  const Value* variables = find_table(context, "variables");
  if (variables == nullptr)
    document.fail(root, "[variables] is missing; expected the variables with their start values");
  const auto variable_names = member_names(context, variables, "variable", parameter_names);
  if (variable_names.empty())
    document.fail(*variables, "[variables] is empty; expected at least one variable");
  context.resolve_overrides(parameter_names, variable_names, overridable_inputs(context));
  context.set_elsewhere(variable_names, "it is a variable; expected numbers and parameters");

  read_parameters(context, parameters, parameter_names, model);
  // Rows of models with binaries are sparse, and those of equations that turn out to be affine; who needs matrices of
  // such a model refuses it.
  if (has_full_rows(context, document)) check_dense(document, variables->members.size());
  model.variables.reserve(variables->members.size());
  for (const Member& member : variables->members)
    read_variable(context, member.key, member.value, model);
  model.run = read_run(context, find_table(context, "run"));
  return model;
}

}  // namespace reader

/// What one reading tells of the next ones.
struct ModelText::Known {
  Rebindings rebindings{};
};

ModelText::ModelText(std::string text, std::string name, ReadOptions known)
    : document_(std::make_shared<const Document>(std::move(text), std::move(name), std::vector<Override>{})),
      known_(std::move(known)),
      from_reading_(std::make_shared<Known>()) {}

Model ModelText::read(const std::vector<Override>& overrides) const {
  if (std::optional<Model> model = from_reading_->rebindings.model(overrides)) return *std::move(model);
  const Document document = document_->with(overrides);
  Model model = read_document(document, known_);
  from_reading_->rebindings.note(document, model);
  return model;
}

std::optional<HybridModel> ModelText::read_hybrid(const std::vector<Override>& overrides) const {
  const Document document = reader::with_families(document_->with(overrides));
  const bool has_equations = document.root().find("model") != nullptr;
  if (!reader::is_hybrid(document) && !(known_.plain_equations && has_equations))
    return std::nullopt;
  return reader::read_hybrid(document, known_);
}

ModelText read_model_file(const std::string& file, const ReadOptions& known) {
  return {read_text(file), file, known};
}

Model read_model_text(const std::string& text, const std::string& name,
                      const std::vector<Override>& overrides, const ReadOptions& known) {
  return read_document(Document(text, name, overrides), known);
}

Model read_model(const std::string& file, const std::vector<Override>& overrides,
                 const ReadOptions& known) {
  return read_document(Document(read_text(file), file, overrides), known);
}

std::optional<HybridModel> read_hybrid_model_text(const std::string& text, const std::string& name,
                                                  const std::vector<Override>& overrides,
                                                  const ReadOptions& known) {
  return ModelText(text, name, known).read_hybrid(overrides);
}

}  // namespace perp

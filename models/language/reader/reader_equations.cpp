#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <set>

#include <perp/core/base/nearest_name.hpp>
#include <perp/models/language/lowering/algebra.hpp>
#include <perp/models/language/lowering/lowering.hpp>
#include <perp/models/language/reader/context.hpp>
#include <perp/models/language/reader/equation_texts.hpp>
#include <perp/models/language/run_options.hpp>

namespace perp::reader {
namespace {

Scope scope_of(const Model& model, const std::vector<std::string>& multipliers,
               const enclosure::ExactLiterals& literals) {
  Scope scope;
  for (const Variable& variable : model.variables) scope.names.push_back(variable.name);
  scope.variables = static_cast<int>(scope.names.size());
  scope.names.insert(scope.names.end(), multipliers.begin(), multipliers.end());
  for (const auto& parameter : model.parameters) scope.names.push_back(parameter.first);
  // Names are found without a search through all.
  for (std::size_t k = 0; k < scope.names.size(); ++k)
    if (!scope.names[k].empty()) scope.aliases.emplace(scope.names[k], static_cast<int>(k));
  literals.extend(scope);
  scope.aliases["time"] = static_cast<int>(scope.names.size());
  scope.aliases.emplace("t", static_cast<int>(scope.names.size()));
  scope.names.emplace_back("t");
  scope.has_all_aliases = true;
  return scope;
}

/// Throws where a new name is not free. Multipliers are the last `multipliers` names of the scope.
void check_new_name(const Document& document, const Value& value, const DeclaredName& declared,
                    const Scope& scope, std::size_t multipliers, const std::string& what) {
  const std::string& name = declared.name;
  if (is_reserved_word(name))
    document.fail(
        value, declared.offset,
        fmt::format("'{}' is a word of the language; expected another name for {}", name, what));
  const std::optional<int> index = scope.index(name);
  if (!index) return;
  const int first_multiplier = static_cast<int>(scope.names.size() - multipliers);
  document.fail(value, declared.offset,
                fmt::format("'{}' is {} already; expected a new name for {}", name,
                            *index < scope.variables       ? "a variable"
                            : *index >= first_multiplier ? "a multiplier"
                                                         : "a parameter",
                            what));
}

/// The text of a law, its own or that of its table.
const Value& law_text(const Context& context, const Value& value, const std::string& what) {
  if (value.kind != Value::Kind::table) {
    context.check_kind(value, Value::Kind::text, what);
    return value;
  }
  context.check_keys(value, what, {"law", "modes", "name", "start", "unit"});
  const Member* law = value.find("law");
  if (law == nullptr)
    context.document().fail(value, fmt::format("'law' is missing in {}; expected text, as in "
                                               "\"lambda in sign(x)\"",
                                               what));
  context.check_kind(law->value, Value::Kind::text, what);
  return law->value;
}

/// The variables whose derivatives these lines hold.
std::set<int> derivatives_in(const EquationModel& model, std::vector<int> open) {
  std::set<int> variables;
  std::vector<bool> seen(static_cast<std::size_t>(model.tape.size()));
  while (!open.empty()) {
    const int line = open.back();
    open.pop_back();
    if (line < 0 || seen[static_cast<std::size_t>(line)]) continue;
    seen[static_cast<std::size_t>(line)] = true;
    if (const Form* form = model.forms.find(model.tape, line)) {
      if (form->kind == FormKind::derivative)
        variables.insert(model.tape[form->operands[0]].a);
      open.insert(open.end(), form->operands.begin(), form->operands.end());
    } else if (model.tape[line].operation != Operation::input) {
      open.push_back(model.tape[line].a);
      open.push_back(model.tape[line].b);
    }
  }
  return variables;
}

}  // namespace

EquationTexts::EquationTexts(const Context& context, const Value& table, const Model& model)
    : context_(context), table_(table), given_(model) {
  if (const Member* laws = table.find("laws")) {
    context.check_kind(laws->value, Value::Kind::list, "laws of [model]");
    for (const Value& value : laws->value.items) laws_.push_back(&value);
  }
  declare_multipliers();
  if (context.is_exact()) {
    collect_all_literals();
    reserve_law_data();
  }
  model_.emplace(scope_of(model, multipliers_, literals_));
  for (const auto& parameter : model.parameters) model_->parameters.push_back(parameter.second);
  if (!context.is_exact()) return;
  model_->parameters.insert(model_->parameters.end(), literals_.nearest().begin(),
                            literals_.nearest().end());
  auto& [intervals, rationals] = model_->exact.emplace(
      lowering::ExactParameters{context.intervals(), context.rationals()});
  intervals.insert(intervals.end(), literals_.values().begin(), literals_.values().end());
  rationals.insert(rationals.end(), literals_.numbers().begin(), literals_.numbers().end());
}

template <class Read>
auto EquationTexts::at(const Value& value, const Read& read) {
  model_->forms.set_text(static_cast<int>(texts_.size()));
  texts_.push_back(&value);
  try {
    return read();
  } catch (const ExpressionError& error) {
    context_.document().fail(value, error.offset(), error.what());
  }
}

/// One multiplier for every law: by the name that the law gives it, else by the law's own text.
void EquationTexts::declare_multipliers() {
  Scope scope = scope_of(given_, {}, {});
  for (std::size_t i = 0; i < laws_.size(); ++i) {
    const Value& text = law_text(context_, *laws_[i], fmt::format("law {}", i + 1));
    DeclaredName declared;
    try {
      declared = declared_multiplier(text.text, scope);
    } catch (const ExpressionError& error) {
      context_.document().fail(text, error.offset(), error.what());
    }
    is_named_.push_back(!declared.name.empty());
    if (is_named_.back())
      check_new_name(context_.document(), text, declared, scope, multipliers_.size(),
                     "a multiplier");
    multipliers_.push_back(is_named_.back() ? declared.name : text.text);
    scope.aliases.emplace(multipliers_.back(), static_cast<int>(scope.names.size()));
    scope.names.push_back(multipliers_.back());
  }
}

StatedLaw EquationTexts::law_of(const Value& text, const LawStatement& statement,
                                std::size_t number) {
  const NamedLaw& law = find_law(context_.document(), text, statement.law, statement.law_offset,
                                 statement.numbers.size());
  if (context_.is_exact()) return exact_law(text, statement, law, number);
  lowering::Algebra algebra(model_->tape, model_->n() + static_cast<int>(laws_.size()),
                            model_->parameters);
  std::vector<double> numbers;
  for (const int line : statement.numbers) {
    if (!algebra.is_known(line) || std::isnan(algebra.value(line)))
      context_.document().fail(text, statement.law_offset,
                               fmt::format("number {} of law '{}' is not constant; expected "
                                           "numbers and parameters",
                                           numbers.size() + 1, law.name));
    numbers.push_back(algebra.value(line));
  }
  return {make_law(context_.document(), text, law, numbers), statement.argument};
}

void EquationTexts::read_laws() {
  EquationModel& model = *model_;
  std::set<std::string> names;
  model.laws.reserve(laws_.size());
  for (std::size_t i = 0; i < laws_.size(); ++i) {
    const std::string what = fmt::format("law {}", i + 1);
    const Value& text = law_text(context_, *laws_[i], what);
    const LawStatement statement =
        at(text, [&] { return parse_law(text.text, model.scope, model.tape, model.forms); });
    StatedLaw stated = law_of(text, statement, i);
    stated.law.name = multipliers_[i];
    multiplier_units_.push_back(read_unit(context_, *laws_[i], what));
    const int multiplier = model.tape.input(model.n() + static_cast<int>(i));
    if (!statement.multiplier.empty() || statement.partner == multiplier) {
      // w is the argument as it stands
    } else if (statement.argument == multiplier) {
      stated.argument = statement.partner;
    } else {
      // 0 ≤ a ⊥ b ≥ 0 of two known quantities: w = a, and b is a multiplier of its own.
      model.equations.push_back({statement.partner, multiplier});
      equation_texts_.push_back(&text);
    }
    if (laws_[i]->kind == Value::Kind::table)
      read_names_and_start(context_, *laws_[i], stated.law, what);
    if (!names.insert(stated.law.name).second)
      context_.document().fail(
          *laws_[i], fmt::format("there are two laws '{}'; expected different names", stated.law.name));
    if (!model.laws.empty()) share_branches(stated.law, model.laws.back().law);
    model.laws.push_back(std::move(stated));
  }
}

void EquationTexts::read_equations() {
  const Member* equations = table_.find("equations");
  if (equations == nullptr)
    context_.document().fail(table_,
                             "'equations' is missing in [model]; expected a list, as in "
                             "equations = [\"der(x) = -x\"]");
  context_.check_kind(equations->value, Value::Kind::list, "equations of [model]");
  // Those that laws add come last.
  std::vector<Equation> added;
  std::vector<const Value*> added_texts;
  std::swap(added, model_->equations);
  std::swap(added_texts, equation_texts_);
  for (const Value& value : equations->value.items) {
    context_.check_kind(value, Value::Kind::text,
                        fmt::format("equation {}", equation_texts_.size() + 1));
    model_->equations.push_back(at(value, [&] {
      return parse_equation(value.text, model_->scope, model_->tape, model_->forms);
    }));
    equation_texts_.push_back(&value);
  }
  model_->equations.insert(model_->equations.end(), added.begin(), added.end());
  equation_texts_.insert(equation_texts_.end(), added_texts.begin(), added_texts.end());
}

int EquationTexts::formula(const Value& value, const std::string& what, FormulaParser* parse) {
  if (value.kind == Value::Kind::number) {
    const double number = context_.number(value, what);
    if (!context_.is_exact()) return model_->tape.constant(number);
    return parse(context_.document().literal(value), model_->scope, model_->tape, model_->forms);
  }
  context_.check_kind(value, Value::Kind::text, what);
  return at(value, [&] { return parse(value.text, model_->scope, model_->tape, model_->forms); });
}

/// A derivative in an output is what the equations say it is: they must hold it.
void EquationTexts::check_derivatives(const Value& value, const std::string& what, int output) {
  std::vector<int> lines;
  for (const Equation& equation : model_->equations) {
    lines.push_back(equation.left);
    lines.push_back(equation.right);
  }
  const std::set<int> known = derivatives_in(*model_, lines);
  for (const int j : derivatives_in(*model_, {output})) {
    has_derivatives_ = true;
    if (known.contains(j)) continue;
    std::string names;
    for (const int k : known)
      names += (names.empty() ? "" : ", ") + given_.variables[static_cast<std::size_t>(k)].name;
    context_.document().fail(
        value, fmt::format("{} holds der({}), which no equation holds{}", what,
                           given_.variables[static_cast<std::size_t>(j)].name,
                           names.empty() ? "" : "; expected the derivative of one of " + names));
  }
}

/// A formula of the state, without derivatives: they jump where a reset happens.
int EquationTexts::state_formula(const Value& value, const std::string& what) {
  const int line = formula(value, what);
  require_state_formula(line, value, what);
  return line;
}

void EquationTexts::require_state_formula(int line, const Value& value, const std::string& what) {
  const std::set<int> derivatives = derivatives_in(*model_, {line});
  if (!derivatives.empty())
    context_.document().fail(
        value, fmt::format("{} holds der({}); expected the right side of its equation instead",
                           what,
                           given_.variables[static_cast<std::size_t>(*derivatives.begin())].name));
}

int EquationTexts::variable(const Member& member, const std::string& what) {
  std::vector<std::string> names;
  for (const Variable& known : given_.variables) {
    if (known.name == member.key) return static_cast<int>(names.size());
    names.push_back(known.name);
  }
  context_.document().fail(
      member, fmt::format("{} sets '{}', which is no variable; expected one of {}{}", what,
                          member.key, fmt::join(names, ", "), suggestion(member.key, names)));
}

void EquationTexts::read_condition(const Value& value, const Member* direction,
                                   const std::string& what, Reset& reset) {
  reset.condition = formula(value, "condition of " + what, parse_formula_or_condition);
  if (model_->forms.is_condition(model_->tape, reset.condition)) {
    if (direction != nullptr)
      context_.document().fail(
          *direction, fmt::format("direction of {} stands in its condition already, which is a "
                                  "comparison; expected one of the two",
                                  what));
    read_comparison(value, what, reset);
  } else if (direction != nullptr) {
    reset.direction = read_direction(direction->value, what);
  }
  require_state_formula(reset.condition, value, "condition of " + what);
}

/// a < b begins to hold where a - b falls through 0, a > b where it rises.
void EquationTexts::read_comparison(const Value& value, const std::string& what, Reset& reset) {
  const Form& form = *model_->forms.find(model_->tape, reset.condition);
  if (form.kind != FormKind::less && form.kind != FormKind::greater)
    context_.document().fail(value, fmt::format("condition of {} joins conditions; expected one "
                                                "comparison of two numbers",
                                                what));
  reset.direction = form.kind == FormKind::less ? -1 : 1;
  reset.condition =
      model_->tape.apply(Operation::subtract, form.operands[0], form.operands[1]);
}

int EquationTexts::read_direction(const Value& value, const std::string& what) {
  const double number = context_.number(value, "direction of " + what);
  if (number != -1 && number != 0 && number != 1)
    context_.document().fail(
        value, fmt::format("direction of {} is {}; expected -1, 0 or 1", what, number));
  return static_cast<int>(number);
}

Reset EquationTexts::read_reset(const Value& value, const std::string& what) {
  context_.check_kind(value, Value::Kind::table, what);
  context_.check_keys(value, what, {"condition", "direction", "name", "set"});
  Reset reset;
  reset.name = what;
  const Member* condition = value.find("condition");
  const Member* set = value.find("set");
  if (condition == nullptr || set == nullptr)
    context_.document().fail(value,
                             fmt::format("'{}' is missing in {}; expected {{ condition = \"h\", "
                                         "direction = -1, set = {{ v = \"-v\" }} }}",
                                         condition == nullptr ? "condition" : "set", what));
  read_condition(condition->value, value.find("direction"), what, reset);
  if (const Member* name = value.find("name"))
    reset.name = context_.text(name->value, "name of " + what);
  context_.check_kind(set->value, Value::Kind::table, "set of " + what);
  for (const Member& member : set->value.members) {
    reset.variables.push_back(variable(member, what));
    reset.values.push_back(state_formula(member.value, member.key + " of " + what));
  }
  if (reset.variables.empty())
    context_.document().fail(set->value, fmt::format("set of {} is empty; expected a variable "
                                                     "and its new value",
                                                     what));
  return reset;
}

void EquationTexts::read_resets() {
  const Member* when = table_.find("when");
  if (when == nullptr) return;
  context_.check_kind(when->value, Value::Kind::list, "when of [model]");
  for (const Value& value : when->value.items)
    model_->resets.push_back(read_reset(value, fmt::format("when {}", model_->resets.size() + 1)));
}

double EquationTexts::coefficient(const Member& member) const {
  const double number = context_.number(member.value, "restitution of '" + member.key + "'");
  if (number < 0 || number > 1)
    context_.document().fail(member.value,
                             fmt::format("restitution of '{}' is {}; expected a number in [0, 1]",
                                         member.key, number));
  // Of a contact the θ-method makes v⁺ = -(1-θ)/θ v⁻, whatever stands here.
  if ((number > 0 || given_.run.scheme == "theta") && context_.known().runs_scheme &&
      !honours_restitution(given_.run.scheme))
    context_.document().fail(
        member, fmt::format("scheme {} has no impacts: restitution of '{}' would have no effect; "
                            "expected scheme moreau_jean or located",
                            given_.run.scheme, member.key));
  return number;
}

std::vector<double> EquationTexts::restitution(const std::vector<std::string>& multipliers) const {
  const Member* table = table_.find("restitution");
  if (table == nullptr) return {};
  context_.check_kind(table->value, Value::Kind::table, "restitution of [model]");
  std::vector<double> numbers(multipliers.size());
  for (const Member& member : table->value.members) {
    const auto found = std::find(multipliers.begin(), multipliers.end(), member.key);
    if (found == multipliers.end())
      context_.document().fail(
          member, fmt::format("restitution names '{}', which is no multiplier of a law{}",
                              member.key, suggestion(member.key, multipliers)));
    numbers[static_cast<std::size_t>(found - multipliers.begin())] = coefficient(member);
  }
  return numbers;
}

}  // namespace perp::reader

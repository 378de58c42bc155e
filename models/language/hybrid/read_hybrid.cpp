// Models with [binaries] and constraints, as read_model finds them.
#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <set>

#include <perp/core/base/index.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/core/expression/constraint.hpp>
#include <perp/core/expression/equation.hpp>
#include <perp/core/expression/polynomial.hpp>
#include <perp/models/language/data/input_table.hpp>
#include <perp/models/language/hybrid/hybrid_structure.hpp>
#include <perp/models/language/hybrid/read_hybrid.hpp>
#include <perp/models/language/reader/context.hpp>

namespace perp::reader {
namespace {

/// The tables of a hybrid model while they are read: texts become lines of one tape. Inputs of the
/// parsing tape:
///     x | z | p | u | t
class HybridTexts {
 public:
  HybridTexts(const Context& context, HybridModel& model)
      : context_(context), document_(context.document()), model_(model), forms_(0) {}

  void read_binaries();
  void declare_inputs();
  void read_inputs();
  void read_rows();

 private:
  [[nodiscard]] const Value* table(const char* name) const;
  void check_new_name(const Member& member, const char* what) const;
  void read_binary(const Member& member);
  void read_modes(const Value& modes, const std::string& what, Binary& binary) const;
  void make_scope();
  template <class Parse>
  int parsed(const Value& value, const Parse& parse);
  int placed(const Value& value, int line);
  [[nodiscard]] int place_of_input(int input) const;
  [[nodiscard]] bool known_above(int place, int own) const;
  void check_known_above(const Value& value, int line, int own, const std::string& what) const;
  [[nodiscard]] Scope scope_of_first_input() const;
  void read_equation(const Value& value);
  void read_constraint(const Value& value);
  void read_outputs(const Value& outputs);
  [[nodiscard]] const Value& list(const char* key) const;

  const Context& context_;
  const Document& document_;
  HybridModel& model_;
  Scope scope_;
  Tape parsing_;
  Forms forms_;
  std::vector<const Member*> inputs_;
  std::map<std::string, const char*> taken_;  // names, and of what
  std::set<std::string> constraint_names_;
  std::vector<int> placed_;  // lines of the model's tape by those of the parsing tape
};

const Value* HybridTexts::table(const char* name) const {
  const Member* member = document_.root().find(name);
  if (member == nullptr) return nullptr;
  context_.check_kind(member->value, Value::Kind::table, name);
  return &member->value;
}

/// A name that is a name, no word of the language and not taken.
void HybridTexts::check_new_name(const Member& member, const char* what) const {
  const std::string& name = member.key;
  if (!is_name(name))
    document_.fail(
        member, fmt::format("'{}' cannot be the name of a {}; expected letters, digits and _, not "
                            "beginning with a digit",
                            name, what));
  if (is_reserved_word(name))
    document_.fail(
        member,
        fmt::format("'{}' is a word of the language; expected another name for a {}", name, what));
  const auto taken = [&](const char* kind) {
    document_.fail(member, fmt::format("'{}' is a {} already; expected another name for a {}", name,
                                       kind, what));
  };
  if (const auto other = taken_.find(name); other != taken_.end()) taken(other->second);
}

/// Words for the values 0 and 1 of a binary.
void HybridTexts::read_modes(const Value& modes, const std::string& what, Binary& binary) const {
  context_.check_kind(modes, Value::Kind::list, "modes of " + what);
  if (modes.items.size() != 2)
    document_.fail(modes, fmt::format("modes of {} has {} entries; expected two words, for 0 and 1",
                                      what, modes.items.size()));
  for (int k = 0; k < 2; ++k)
    binary.modes[at(k)] = context_.text(modes.items[at(k)], "a mode of " + what);
}

void HybridTexts::read_binary(const Member& member) {
  check_new_name(member, "binary");
  Binary binary{.name = member.key};
  const std::string what = "binary '" + member.key + "'";
  const Value* start = &member.value;
  if (member.value.kind == Value::Kind::table) {
    context_.check_keys(member.value, what, {"modes", "start"});
    const Member* given = member.value.find("start");
    start = given == nullptr ? nullptr : &given->value;
    if (const Member* modes = member.value.find("modes")) read_modes(modes->value, what, binary);
  }
  if (context_.is_overridden("binaries", member.key))
    start = context_.find(nullptr, "binaries", member.key);
  if (start != nullptr) {
    const double value = context_.number(*start, "start of " + what);
    if (value != 0 && value != 1)
      document_.fail(*start, fmt::format("start of {} is {}; expected 0 or 1", what, value));
    binary.start = static_cast<int>(value);
  }
  taken_.emplace(binary.name, "binary");
  model_.binaries.push_back(std::move(binary));
}

void HybridTexts::read_binaries() {
  for (const auto& parameter : model_.head.parameters) taken_.emplace(parameter.first, "parameter");
  for (const Variable& variable : model_.head.variables) taken_.emplace(variable.name, "variable");
  const Value* binaries = table("binaries");
  if (binaries == nullptr) return;
  for (const Member& member : binaries->members) read_binary(member);
}

void HybridTexts::declare_inputs() {
  if (const Value* inputs = table("inputs"))
    for (const Member& member : inputs->members) {
      check_new_name(member, "input");
      inputs_.push_back(&member);
    }
  make_scope();
}

void HybridTexts::make_scope() {
  for (const Variable& variable : model_.head.variables) scope_.names.push_back(variable.name);
  scope_.variables = static_cast<int>(scope_.names.size());
  for (const Binary& binary : model_.binaries) scope_.names.push_back(binary.name);
  for (const auto& parameter : model_.head.parameters) scope_.names.push_back(parameter.first);
  for (const Member* input : inputs_) scope_.names.push_back(input->key);
  for (std::size_t k = 0; k < scope_.names.size(); ++k)  // found without a search through all
    scope_.aliases[scope_.names[k]] = static_cast<int>(k);
  scope_.aliases["time"] = static_cast<int>(scope_.names.size());
  scope_.names.emplace_back("t");
  forms_ = Forms(static_cast<int>(scope_.names.size()));
}

template <class Parse>
int HybridTexts::parsed(const Value& value, const Parse& parse) {
  try {
    return placed(value, parse());
  } catch (const ExpressionError& error) {
    document_.fail(value, error.offset(), error.what());
  }
}

/// From the order of the parsing tape to t | ẋ | x | z | p | u.
int HybridTexts::place_of_input(int input) const {
  const int last = static_cast<int>(scope_.names.size()) - 1;
  return input == last ? HybridModel::time_input() : model_.variable_input(0) + input;
}

/// The line on the model's tape. Operators that are laws have no place beside constraints.
int HybridTexts::placed(const Value& value, int line) {
  Tape& tape = model_.tape;
  for (int k = static_cast<int>(placed_.size()); k < parsing_.size(); ++k) {
    const Instruction& here = parsing_[k];
    int place = -1;
    if (const Form* form = forms_.find(parsing_, k)) {
      if (form->kind != FormKind::derivative)
        document_.fail(value, forms_.place(parsing_, k).offset,
                       fmt::format("'{}' is a set-valued operator, which models with binaries, "
                                   "constraints or inputs do not "
                                   "have; expected a binary with a constraint",
                                   form_word(form->kind)));
      place = tape.input(HybridModel::derivative_input(parsing_[form->operands[0]].a));
    } else if (here.operation == Operation::input) {
      place = tape.input(place_of_input(here.a));
    } else if (here.operation == Operation::constant) {
      place = tape.constant(here.value);
    } else {
      place = tape.apply(here.operation, here.a < 0 ? -1 : placed_[at(here.a)],
                         here.b < 0 ? -1 : placed_[at(here.b)]);
    }
    placed_.push_back(place);
  }
  return placed_[at(line)];
}

/// May the formula of the input at place `own` hold the signal at `place`?
bool HybridTexts::known_above(int place, int own) const {
  return place == HybridModel::time_input() || (place >= model_.parameter_input(0) && place < own);
}

/// All names; messages do not list those that the first input may not hold. They have no reason: a
/// formula with one is parsed and then refused as a whole.
Scope HybridTexts::scope_of_first_input() const {
  Scope scope = scope_;
  const int first = model_.known_input(0);
  const auto none = std::make_shared<const std::string>();
  for (std::size_t i = 0; i < scope.names.size(); ++i)
    if (!known_above(place_of_input(static_cast<int>(i)), first))
      scope.elsewhere.try_emplace(scope.names[i], none);
  return scope;
}

/// Throws where the formula of the input `own` holds what is not known there.
void HybridTexts::check_known_above(const Value& value, int line, int own, const std::string& what) const {
  for (const int k : lines_below(model_.tape, line)) {
    const Instruction& here = model_.tape[k];
    if (here.operation == Operation::input && !known_above(here.a, own))
      document_.fail(
          value,
          fmt::format(
              "{} holds a signal that is not known there; expected t, parameters and inputs "
              "above it",
              what));
  }
}

/// u(t): a number, a formula of t, the parameters and the inputs above it, or data of a file.
void HybridTexts::read_inputs() {
  InputTables tables(context_, model_.head);
  Scope above = scope_of_first_input();
  for (const Member* member : inputs_) {
    if (!model_.inputs.empty()) above.elsewhere.erase(model_.inputs.back().name);
    const std::string what = "input '" + member->key + "'";
    const Value& value = *context_.find(table("inputs"), "inputs", member->key);
    if (value.kind == Value::Kind::table) {
      model_.inputs.push_back(tables.read(member->key, value, model_.head.run.span, model_.tape));
      continue;
    }
    const int own = model_.known_input(static_cast<int>(model_.inputs.size()));
    int line = -1;
    if (value.kind == Value::Kind::number) {
      line = model_.tape.constant(context_.number(value, what));
    } else {
      context_.check_kind(value, Value::Kind::text, what);
      line = parsed(value, [&] { return parse_formula(value.text, above, parsing_, forms_); });
    }
    check_known_above(value, line, own, what);
    model_.inputs.push_back({member->key, line});
  }
  for (const KnownInput& input : model_.inputs) model_.head.inputs.push_back(input.name);
}

const Value& HybridTexts::list(const char* key) const {
  static const Value none = [] {
    Value empty;
    empty.kind = Value::Kind::list;
    return empty;
  }();
  const Member* member = document_.root().find("model")->value.find(key);
  if (member == nullptr) return none;
  context_.check_kind(member->value, Value::Kind::list, fmt::format("{} of [model]", key));
  return member->value;
}

void HybridTexts::read_equation(const Value& value) {
  context_.check_kind(value, Value::Kind::text, fmt::format("equation {}", model_.f.size() + 1));
  model_.f.push_back(parsed(value, [&] {
    const Equation equation = parse_equation(value.text, scope_, parsing_, forms_);
    const Instruction& right = parsing_[equation.right];
    const bool is_zero = right.operation == Operation::constant && right.value == 0;
    return is_zero ? equation.left
                   : parsing_.apply(Operation::subtract, equation.left, equation.right);
  }));
  model_.equation_texts.push_back(value.text);
}

/// "a <= b", or { name = "..", g = "a <= b" }.
void HybridTexts::read_constraint(const Value& value) {
  Constraint constraint{fmt::format("g{}", model_.g.size() + 1), {}};
  const std::string what = fmt::format("constraint {}", model_.g.size() + 1);
  const Value* text = &value;
  if (value.kind == Value::Kind::table) {
    context_.check_keys(value, what, {"g", "name"});
    const Member* g = value.find("g");
    if (g == nullptr)
      document_.fail(value,
                     fmt::format("'g' is missing in {}; expected text, as in \"x <= 1\"", what));
    text = &g->value;
    if (const Member* name = value.find("name"))
      constraint.name = context_.text(name->value, "name of " + what);
  }
  context_.check_kind(*text, Value::Kind::text, what);
  if (!constraint_names_.insert(constraint.name).second)
    document_.fail(value, fmt::format("there are two constraints '{}'; expected different names",
                                      constraint.name));
  model_.g.push_back(
      parsed(*text, [&] { return parse_constraint(text->text, scope_, parsing_, forms_); }));
  constraint.text = text->text;
  model_.constraints.push_back(std::move(constraint));
}

void HybridTexts::read_rows() {
  const Value* model = table("model");
  const Value* matrices = table("multilinear");
  if (model == nullptr && matrices == nullptr)
    document_.fail(document_.root(),
                   "[model] is missing; expected equations and constraints beside [binaries]");
  if (model != nullptr && matrices != nullptr)
    document_.fail(*document_.root().find("multilinear"),
                   "[multilinear] beside [model]; expected equations or matrices, one of them");
  if (matrices != nullptr) return read_multilinear(context_, *matrices, model_);
  context_.check_keys(*model, "[model] beside binaries, constraints or inputs",
                      {"constraints", "equations", "outputs"});
  for (const Value& value : list("equations").items) read_equation(value);
  for (const Value& value : list("constraints").items) read_constraint(value);
  if (const Member* outputs = model->find("outputs")) read_outputs(outputs->value);
}

/// Formulas of all signals, derivatives among them.
void HybridTexts::read_outputs(const Value& outputs) {
  context_.check_kind(outputs, Value::Kind::table, "outputs of [model]");
  for (const Member& member : outputs.members) {
    const Value& value = read_output(context_, member, scope_.names, model_.head.outputs);
    if (value.kind == Value::Kind::number) {
      model_.outputs.push_back(model_.tape.constant(context_.number(value, "output '" + member.key + "'")));
      continue;
    }
    context_.check_kind(value, Value::Kind::text, "output '" + member.key + "'");
    model_.outputs.push_back(parsed(value, [&] { return parse_formula(value.text, scope_, parsing_, forms_); }));
  }
}

/// Enclosures know none of these models; inputs alone can be said otherwise.
[[noreturn]] void refuse_exact(const Document& document) {
  for (const char* table : {"binaries", "multilinear"})
    if (const Member* found = document.root().find(table))
      document.fail(found->value, "enclosures of models with binaries or constraints are not supported; expected a model with laws");
  if (const Member* inputs = document.root().find("inputs"))
    document.fail(inputs->value, "enclosures have no [inputs]; expected formulas of t in the equations, or, for a function of which only bounds are "
                                 "known, a parameter: NAME = \"[LO, HI] at every t\"");
  document.fail(document.root(), "enclosures of models with binaries or constraints are not supported; expected a model with laws");
}

/// Throws where the rows cannot determine the unknowns.
void check_structure(const Document& document, const HybridModel& model, const HybridStructure& structure) {
  const std::string defect = structural_defect(model, structure);
  if (defect.empty()) return;
  const std::string message = fmt::format(
      "the model is structurally singular: {}; {} equations and {} constraints for {} variables "
      "and {} "
      "binaries",
      defect, model.f.size(), model.g.size(), model.n(), model.q());
  const Value& root = document.root();
  document.fail(root.find("model") != nullptr ? *root.find("model") : *root.find("multilinear"),
                message);
}

}  // namespace

bool is_hybrid(const Document& document) {
  const Value& root = document.root();
  for (const char* table : {"binaries", "inputs", "multilinear"})
    if (root.find(table) != nullptr) return true;
  const Member* model = root.find("model");
  return model != nullptr && model->value.kind == Value::Kind::table &&
         model->value.find("constraints") != nullptr;
}

HybridModel read_hybrid(const Document& document, const ReadOptions& known, HybridStructure* structure) {
  Context context(document, known);
  std::vector<std::string> keys{"binaries", "inputs",     "model", "multilinear", "name",
                                "parameters", "run", "source", "variables"};
  if (known.plain_equations) keys.emplace_back("exact");  // of which nothing is asked
  context.check_keys(document.root(), "the file", keys);
  if (context.is_exact()) refuse_exact(document);
  HybridModel model;
  model.head = read_head(context);
  HybridTexts texts(context, model);
  texts.read_binaries();
  texts.declare_inputs();
  texts.read_inputs();
  texts.read_rows();
  HybridStructure found = structure_of(model);
  check_structure(document, model, found);
  if (structure != nullptr) *structure = std::move(found);
  return model;
}

}  // namespace perp::reader

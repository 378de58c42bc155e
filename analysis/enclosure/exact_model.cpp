// Model files without rounding: the file's own tree gives the numbers, a copy of it in which they
// are parameters gives the system.
#include <fmt/format.h>
#include <algorithm>

#include <perp/analysis/enclosure/exact_model.hpp>
#include <perp/core/error.hpp>
#include <perp/core/expression/decimal.hpp>
#include <perp/models/read_model.hpp>
#include <perp/models/reader/document.hpp>

namespace perp::enclosure {
namespace {

using reader::Member;
using reader::Value;

/// Reads numbers where they stand: the tree has them as doubles.
class NumberReader {
 public:
  explicit NumberReader(const std::string& text) : text_(text) {}

  void add(const std::string& name, const Interval& value) {
    names_.push_back(name);
    values_.push_back(value);
  }

  [[nodiscard]] Interval number(const Value& value) const {
    if (value.kind == Value::Kind::text) return expression(value.text);
    if (value.kind == Value::Kind::table) return start_of(value);
    if (value.kind != Value::Kind::number)
      throw InvalidInput(
          "a start or a parameter is no number; expected a number, an expression or an interval");
    const std::string_view rest =
        std::string_view(text_).substr(reader::byte_offset(text_, value.at));
    return enclose_decimal(rest.substr(0, rest.find_first_not_of("0123456789+-._eE")));
  }

 private:
  [[nodiscard]] Interval start_of(const Value& variable) const {
    for (const Member& member : variable.members)
      if (member.key != "start" && member.key != "unit" && member.key != "nominal")
        throw InvalidInput(
            fmt::format("a variable has '{}': bounds are not enclosed yet", member.key));
    const Member* start = variable.find("start");
    if (start == nullptr)
      throw InvalidInput("a variable has no start; expected one for every variable");
    return number(start->value);
  }

  [[nodiscard]] Interval expression(const std::string& text) const {
    const std::size_t comma = text.find(','), spread = text.find("+-");
    if (text.starts_with('[') && text.ends_with(']') && comma != std::string::npos) {
      const Interval lower = value_of(text.substr(1, comma - 1));
      const Interval upper = value_of(text.substr(comma + 1, text.size() - comma - 2));
      if (!(lower.lo <= upper.hi))
        throw InvalidInput(
            fmt::format("the interval '{}' is empty; expected the lower end first", text));
      return {lower.lo, upper.hi};
    }
    if (spread == std::string::npos) return value_of(text);
    return value_of(text.substr(0, spread)) +
           symmetric(magnitude(value_of(text.substr(spread + 2))));
  }

  [[nodiscard]] Interval value_of(const std::string& text) const {
    const Interval value = enclose_expression(text, names_, values_);
    if (!value.is_bounded()) throw InvalidInput(fmt::format("'{}' has no finite value", text));
    return value;
  }

  const std::string& text_;
  std::vector<std::string> names_;
  std::vector<Interval> values_;
};

const Value* table(const Value& root, std::string_view key) {
  const Member* member = root.find(key);
  return member == nullptr ? nullptr : &member->value;
}

/// Keys of [model] that equations alone can do without.
void check_treated(const Value& root, const Value* model) {
  if (model == nullptr || root.find("system") != nullptr)
    throw InvalidInput(
        "the model has no [model] table of equations: matrices are not enclosed yet");
  for (const Member& member : model->members)
    if (member.key != "equations" && member.key != "outputs")
      throw InvalidInput(
          fmt::format("the model has '{}': only smooth systems are enclosed yet", member.key));
}

std::string quoted(const std::string& text) { return "\"" + text + "\""; }

}  // namespace

ExactModel read_exact_model(const std::string& text, const std::string& name) {
  const reader::Document document(text, name, {});
  const Value& root = document.root();
  const Value* model = table(root, "model");
  check_treated(root, model);

  ExactModel result;
  NumberReader numbers(text);
  if (const Value* parameters = table(root, "parameters")) {
    for (const Member& member : parameters->members) {
      result.parameters.push_back(member.key);
      result.values.push_back(numbers.number(member.value));
      numbers.add(member.key, result.values.back());
    }
  }
  std::string copy = "[variables]\n";
  if (const Value* variables = table(root, "variables")) {
    for (const Member& member : variables->members) {
      result.variables.push_back(member.key);
      result.start.push_back(numbers.number(member.value));
      copy += fmt::format("{} = {:.17e}\n", member.key, middle(result.start.back()));
    }
  }
  std::vector<std::string> taken = result.parameters;
  taken.insert(taken.end(), result.variables.begin(), result.variables.end());
  ExactLiterals literals(taken);
  copy += "[model]\nequations = [\n";
  if (const Value* equations = table(*model, "equations"))
    for (const Value& equation : equations->items)
      copy += quoted(literals.replaced(equation.text)) + ",\n";
  copy += "]\n[parameters]\n";
  result.parameters.insert(result.parameters.end(), literals.names().begin(),
                           literals.names().end());
  result.values.insert(result.values.end(), literals.values().begin(), literals.values().end());
  for (std::size_t k = 0; k < result.parameters.size(); ++k)
    copy += fmt::format("{} = {:.17e}\n", result.parameters[k], middle(result.values[k]));

  // A span is two numbers, or expressions of parameters, whose doubles are meant.
  if (const Value* run = table(root, "run")) {
    const Member* times = run->find("t");
    if (times != nullptr && times->value.items.size() == 2)
      result.span = {middle(numbers.number(times->value.items[0])),
                     middle(numbers.number(times->value.items[1]))};
  }
  copy += fmt::format("[run]\nt = [{:.17e}, {:.17e}]\n", result.span.start, result.span.end);
  const Model whole = read_model_text(copy, name);
  if (!whole.equations) throw InvalidInput("the model has no equations to enclose");
  result.system = *whole.equations;
  return result;
}

}  // namespace perp::enclosure

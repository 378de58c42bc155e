// [model] outputs: formulas, and their units.
#include <fmt/format.h>
#include <algorithm>
#include <string>

#include <perp/models/language/reader/context.hpp>
#include <perp/models/language/reader/equation_texts.hpp>

namespace perp::reader {
namespace {

/// The formula of an output, its own or that of its table.
const Value& output_text(const Context& context, const Value& value, const std::string& what) {
  if (value.kind != Value::Kind::table) return value;
  context.check_keys(value, what, {"unit", "value"});
  if (const Member* formula = value.find("value")) return formula->value;
  context.document().fail(value, fmt::format("'value' is missing in {}; expected a formula, as in "
                                             "{{ value = \"v^2/2\", unit = \"J\" }}",
                                             what));
}

}  // namespace

void EquationTexts::read_outputs() {
  const Member* outputs = table_.find("outputs");
  if (outputs == nullptr) return;
  context_.check_kind(outputs->value, Value::Kind::table, "outputs of [model]");
  for (const Member& member : outputs->value.members) {
    const std::string what = "output '" + member.key + "'";
    if (!is_name(member.key))
      context_.document().fail(
          member, fmt::format("'{}' cannot be the name of an output; expected letters, digits and "
                              "_, not beginning with a digit",
                              member.key));
    if (is_reserved_word(member.key))
      context_.document().fail(member, fmt::format("'{}' is a word of the language; expected "
                                                   "another name for an output",
                                                   member.key));
    if (std::find(model_->scope.names.begin(), model_->scope.names.end(), member.key) !=
        model_->scope.names.end())
      context_.document().fail(
          member, fmt::format("'{}' is a variable, a multiplier or a parameter already; expected a "
                              "new name for an output",
                              member.key));
    output_names_.push_back(member.key);
    output_units_.push_back(read_unit(context_, member.value, what));
    const Value& text = output_text(context_, member.value, what);
    model_->outputs.push_back(formula(text, what));
    check_derivatives(text, what, model_->outputs.back());
  }
}

}  // namespace perp::reader

// [model] outputs: formulas, and their units.
#include <fmt/format.h>
#include <algorithm>
#include <string>

#include <perp/models/language/reader/context.hpp>
#include <perp/models/language/reader/equation_texts.hpp>

namespace perp::reader {

const Value& read_output(const Context& context, const Member& member, const std::vector<std::string>& taken, Outputs& outputs) {
  const Document& document = context.document();
  const std::string what = "output '" + member.key + "'";
  if (!is_name(member.key))
    document.fail(member, fmt::format("'{}' cannot be the name of an output; expected letters, digits and "
                                      "_, not beginning with a digit",
                                      member.key));
  if (is_reserved_word(member.key))
    document.fail(member, fmt::format("'{}' is a word of the language; expected another name for an output", member.key));
  if (std::ranges::find(taken, member.key) != taken.end())
    document.fail(member, fmt::format("'{}' is a variable, a multiplier or a parameter already; expected a "
                                      "new name for an output",
                                      member.key));
  outputs.names.push_back(member.key);
  outputs.units.push_back(read_unit(context, member.value, what));
  if (member.value.kind != Value::Kind::table) return member.value;
  context.check_keys(member.value, what, {"unit", "value"});
  if (const Member* formula = member.value.find("value")) return formula->value;
  document.fail(member.value, fmt::format("'value' is missing in {}; expected a formula, as in "
                                          "{{ value = \"v^2/2\", unit = \"J\" }}",
                                          what));
}

void EquationTexts::read_outputs() {
  const Member* outputs = table_.find("outputs");
  if (outputs == nullptr) return;
  context_.check_kind(outputs->value, Value::Kind::table, "outputs of [model]");
  for (const Member& member : outputs->value.members) {
    const Value& text = read_output(context_, member, model_->scope.names, outputs_);
    const std::string what = "output '" + member.key + "'";
    model_->outputs.push_back(formula(text, what));
    check_derivatives(text, what, model_->outputs.back());
  }
}

}  // namespace perp::reader

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <cstring>

#include <perp/analysis/measures/measure_text.hpp>
#include <perp/analysis/run/columns.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>

namespace perp {
namespace {

const ReductionForm* find_form(std::string_view name) {
  for (const ReductionForm& form : reduction_forms())
    if (name == form.name) return &form;
  return nullptr;
}

bool is_part_of_name(char c) { return is_name(std::string_view(&c, 1)) || (c >= '0' && c <= '9'); }

std::size_t end_of_name(std::string_view text, std::size_t start) {
  std::size_t end = start;
  while (end < text.size() && is_part_of_name(text[end])) ++end;
  return end;
}

std::size_t past_spaces(std::string_view text, std::size_t at) {
  while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
  return at;
}

struct Brackets {
  std::size_t close = 0;                // of the bracket at the start
  std::vector<std::size_t> commas{};    // between its arguments
};

/// 1 of an opening bracket, -1 of a closing one.
int depth_change(char c) {
  if (c == '(' || c == '[') return 1;
  return c == ')' || c == ']' ? -1 : 0;
}

/// Throws ExpressionError where a bracket is not closed.
Brackets match(std::string_view text, std::size_t open) {
  Brackets found;
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    depth += depth_change(text[at]);
    if (text[at] == ',' && depth == 1) found.commas.push_back(at);
    if (depth > 0) continue;
    found.close = at;
    return found;
  }
  throw ExpressionError("this bracket is not closed", open, 1);
}

/// What stands in the brackets; of three arguments the middle one, an event, may hold commas.
std::vector<std::string> arguments_of(const std::string& text, std::size_t open, const Brackets& brackets,
                                      int most) {
  std::vector<std::size_t> cuts = brackets.commas;
  if (most == 1) cuts.clear();
  if (most == 2 && cuts.size() > 1) cuts = {cuts.back()};
  if (most == 3 && cuts.size() > 2) cuts = {cuts.front(), cuts.back()};
  cuts.insert(cuts.begin(), open);
  cuts.push_back(brackets.close);
  std::vector<std::string> arguments;
  for (std::size_t k = 0; k + 1 < cuts.size(); ++k)
    arguments.push_back(text.substr(cuts[k] + 1, cuts[k + 1] - cuts[k] - 1));
  return arguments;
}

[[noreturn]] void fail_unknown_call(std::string_view name, std::size_t start) {
  std::vector<std::string> known = function_names();
  for (const ReductionForm& form : reduction_forms()) known.emplace_back(form.name);
  throw ExpressionError(fmt::format("unknown function '{}'{}", name, suggestion(name, known)), start, name.size());
}

}  // namespace

MeasureText::MeasureText(const Model& model, const std::string& text) : model_(model), text_(text) {
  const auto is_taken = [&](const auto& parameter) { return parameter.first.compare(0, prefix_.size(), prefix_) == 0; };
  while (std::any_of(model.parameters.begin(), model.parameters.end(), is_taken)) prefix_ += '_';
  take_calls();
  Scope scope;
  for (const auto& [name, value] : model.parameters) scope.names.push_back(name);
  for (std::size_t k = 0; k < reductions_.size(); ++k)  // aliases: messages do not propose them
    scope.aliases.emplace(fmt::format("{}{}", prefix_, k), static_cast<int>(model.parameters.size() + k));
  try {
    formula_ = Expression(text_, scope);
    return;
  } catch (const ExpressionError&) {
    // said below in the words of measures
  }
  const Columns columns = columns_of(model);
  for (const auto* list : {&columns.x, &columns.lambda, &columns.w, &columns.outputs})
    for (const std::string& name : *list)
      scope.elsewhere.emplace(name, std::make_shared<const std::string>(fmt::format(
                                        "a measure is one number of a run: end({0}), mean({0}), max({0}), ...", name)));
  formula_ = Expression(text_, scope);
}

/// Puts a name in the place of each reduction of the text.
void MeasureText::take_calls() {
  for (std::size_t at = 0; at < text_.size();) {
    const std::size_t end = end_of_name(text_, at);
    if (end == at) {
      ++at;
      continue;
    }
    const std::size_t open = past_spaces(text_, end);
    const bool is_call = is_name(text_.substr(at, end - at)) && open < text_.size() && text_[open] == '(';
    at = is_call ? reduction(at, open) : end;
  }
}

/// Reads the call at `start` if it is one of a reduction, and puts a name in its place. Returns where to
/// read on. min and max of several arguments are functions of numbers.
std::size_t MeasureText::reduction(std::size_t start, std::size_t open) {
  const std::string name = text_.substr(start, end_of_name(text_, start) - start);
  const std::vector<std::string>& functions = function_names();
  const bool is_function = std::find(functions.begin(), functions.end(), name) != functions.end();
  const ReductionForm* form = find_form(name);
  if (form == nullptr && !is_function) fail_unknown_call(name, start);
  if (form == nullptr) return open + 1;
  const Brackets brackets = match(text_, open);
  if (is_function && !brackets.commas.empty()) return open + 1;
  const std::vector<std::string> arguments = arguments_of(text_, open, brackets, form->most);
  if (static_cast<int>(arguments.size()) < form->least)
    throw ExpressionError(fmt::format("expected {}({})", form->name, form->arguments), start, name.size());
  try {
    reductions_.push_back(form->make(model_, arguments));
  } catch (const ExpressionError& error) {
    // Where which argument stands is not told by the error: that of the call is.
    throw ExpressionError(fmt::format("{}({}): {}", form->name, form->arguments, error.what()), start, name.size());
  }
  const std::string stand_in = fmt::format("{}{}", prefix_, reductions_.size() - 1);
  const std::size_t length = brackets.close + 1 - start;
  text_.replace(start, length, stand_in + std::string(length - std::min(length, stand_in.size()), ' '));
  return start + std::max(length, stand_in.size());
}

}  // namespace perp

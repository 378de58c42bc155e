#include <fmt/format.h>
#include <algorithm>

#include <perp/core/base/nearest_name.hpp>
#include <perp/models/language/reader/context.hpp>
#include <perp/models/language/run_options.hpp>

namespace perp::reader {
namespace {

using Names = std::vector<std::string>;

/// A text that is not blank, without the spaces around it and the brackets of a list.
std::string_view inside_of_list(std::string_view text) {
  const std::size_t start = text.find_first_not_of(' ');
  text = text.substr(start, text.find_last_not_of(' ') + 1 - start);
  const bool has_brackets = text.size() > 1 && text.starts_with('[') && text.ends_with(']');
  return has_brackets ? text.substr(1, text.size() - 2) : text;
}

/// "[0, 2*(1 + T)]" or "0, 2": a list of texts at their places; anything else stays as it is.
Value as_list(const Value& whole) {
  const std::string_view text = whole.text;
  if (text.find_first_not_of(' ') == std::string_view::npos) return whole;
  const std::string_view inside = inside_of_list(text);
  const auto start = static_cast<std::size_t>(inside.data() - text.data());
  Value list = whole;
  list.kind = Value::Kind::list;
  int depth = 0;
  for (std::size_t k = 0, from = 0; k <= inside.size(); ++k) {
    const char c = k < inside.size() ? inside[k] : ',';
    depth += bracket_step(c);
    if (c != ',' || (depth > 0 && k < inside.size())) continue;
    Value item = whole;
    item.text = inside.substr(from, k - from);
    item.at.column += static_cast<int>(position_of(text, start + from).column) - 1;
    list.items.push_back(std::move(item));
    from = k + 1;
  }
  return list;
}

/// The key of an override with "variables.x" in place of "variables.x.start" and x(0), which are the start of x.
std::string without_start(std::string key, const Names& variables) {
  if (key.starts_with("variables.") && key.ends_with(".start")) key.resize(key.size() - 6);
  constexpr std::string_view at_start = "(0)";
  if (!key.ends_with(at_start)) return key;
  const std::string name = key.substr(0, key.size() - at_start.size());
  return std::find(variables.begin(), variables.end(), name) != variables.end() ? "variables." + name : key;
}

}  // namespace

const std::vector<std::string>& run_keys() {
  static const Names keys = [] {
    Names list{"t"};
    for (const RunOption& option : run_options()) list.emplace_back(option.key);
    std::sort(list.begin(), list.end());
    return list;
  }();
  return keys;
}

std::string Context::canonical_key(std::size_t k, const Names& parameters,
                                   const Names& variables,
                                   const OverridableInputs& inputs) const {
  const std::string key = without_start(document_.overrides()[k].key, variables);
  const std::pair<const Names*, std::string_view> tables[] = {
      {&parameters, "parameters."}, {&variables, "variables."},  {&inputs.inputs, "inputs."},
      {&inputs.data, "inputs."},    {&inputs.binaries, "binaries."}, {&run_keys(), "run."}};
  Names candidates;
  for (const auto& [names, table] : tables) {
    const std::string_view in_table = key.starts_with(table) ? std::string_view(key).substr(table.size()) : std::string_view();
    for (const std::string& name : *names)
      if (key == name || in_table == name) candidates.push_back(std::string(table) + name);
  }
  if (candidates.size() > 1)
    document_.fail_override(
        k, fmt::format("'{}' is ambiguous; expected {}", key, fmt::join(candidates, " or ")));
  if (!candidates.empty()) return candidates[0];
  Names known;
  for (const auto& [names, table] : tables)
    for (const std::string& name : *names) {
      known.push_back(name);
      known.push_back(std::string(table) + name);
    }
  document_.fail_override(
      k, fmt::format("unknown key '{}'; expected a parameter, a variable (its start){} or run.{}{}",
                     key, inputs.words(), fmt::join(run_keys(), ", run."),
                     suggestion(key, known)));
}

void Context::resolve_overrides(const Names& parameters, const Names& variables,
                                const OverridableInputs& inputs) {
  Names keys;
  for (std::size_t k = 0; k < document_.overrides().size(); ++k) {
    const std::string key = canonical_key(k, parameters, variables, inputs);
    const auto other = std::find(keys.begin(), keys.end(), key);
    if (other != keys.end())
      document_.fail_override(
          k, fmt::format("{} is given by '{}' too; expected one of them", key,
                         document_.override_name(static_cast<std::size_t>(other - keys.begin()))));
    keys.push_back(key);
    const Value value = document_.override_value(k);
    overrides_[key] = key == "run.t" ? as_list(value) : value;
  }
}

}  // namespace perp::reader

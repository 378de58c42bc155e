#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>
#include <unordered_set>

#include <perp/analysis/run/columns.hpp>

namespace perp {
namespace {

using Names = std::unordered_set<std::string>;

bool is_plain(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_';
  });
}

BranchTexts texts_of_branches(const std::vector<Law>& laws, const Event& event, bool is_repeated) {
  const Law& law = laws.at(static_cast<std::size_t>(event.law));
  BranchTexts texts;
  texts.law = law.name;
  if (is_repeated) texts.law += fmt::format(" (law {})", event.law + 1);
  if (event.from >= 0) texts.from = describe(law.branches.at(static_cast<std::size_t>(event.from)));
  if (event.to >= 0) texts.to = describe(law.branches.at(static_cast<std::size_t>(event.to)));
  return texts;
}

/// A name for the column of modes where a variable or an output is called "mode".
std::string name_beside(Names taken, const std::vector<std::string>& lambda) {
  taken.insert(lambda.begin(), lambda.end());
  std::string name = "mode_text";
  while (taken.contains(name)) name = std::string("_").append(name);
  return name;
}

/// Can the columns of all multipliers have the names of their laws, beside those that are taken?
bool have_names_of_laws(const std::vector<Law>& laws, const Names& taken) {
  if (!std::ranges::all_of(laws, [](const Law& law) { return is_plain(law.name); })) return false;
  Names own;
  const auto takes = [&](const std::string& name) { return !taken.contains(name) && own.insert(name).second; };
  return std::ranges::all_of(
      laws, [&](const Law& law) { return takes("lambda_" + law.name) && takes("w_" + law.name); });
}

/// What makes "lambda" and "w" names that are not taken.
std::string free_ending(std::string ending, const Names& taken) {
  while (taken.count("lambda" + ending) > 0 || taken.count("w" + ending) > 0)
    ending = std::string("_").append(ending);
  return ending;
}

}  // namespace

std::vector<std::string> variable_names(const Model& model) {
  std::vector<std::string> names;
  for (const Variable& variable : model.variables) names.push_back(variable.name);
  return names;
}

Columns columns_of(const Model& model) {
  const Laws& laws = model.laws();
  Columns columns;
  columns.x = variable_names(model);
  columns.outputs = model.outputs.names;
  Names taken(columns.x.begin(), columns.x.end(), 2 * columns.x.size());
  taken.insert(columns.outputs.begin(), columns.outputs.end());
  const Names own_names = taken.contains("mode") ? taken : Names{};
  taken.insert({"t", "mode"});
  const bool by_name = have_names_of_laws(laws, taken);
  for (std::size_t i = 0; i < laws.size(); ++i) {
    const std::string own = i < model.multipliers.size() ? model.multipliers[i] : "";
    if (!own.empty() && !taken.contains(own) && !taken.contains("w_" + own)) {  // the user's name
      columns.lambda.push_back(own);
      columns.w.push_back("w_" + own);
      continue;
    }
    const std::string ending = free_ending(by_name ? "_" + laws[i].name : fmt::format("{}", i + 1), taken);
    columns.lambda.push_back("lambda" + ending);
    columns.w.push_back("w" + ending);
  }
  columns.mode = own_names.empty() ? "mode" : name_beside(own_names, columns.lambda);
  return columns;
}

std::map<std::string, std::string> column_units(const Model& model) {
  std::map<std::string, std::string> units;
  const auto add = [&units](const std::string& name, const std::string& unit) {
    if (!unit.empty()) units[name] = unit;
  };
  for (const Variable& variable : model.variables) add(variable.name, variable.unit);
  const auto add_all = [&add](const std::vector<std::string>& names, const std::vector<std::string>& of) {
    for (std::size_t k = 0; k < std::min(names.size(), of.size()); ++k) add(names[k], of[k]);
  };
  const bool has_units = std::ranges::any_of(model.multiplier_units, [](const std::string& unit) { return !unit.empty(); });
  if (has_units) add_all(columns_of(model).lambda, model.multiplier_units);
  add_all(model.outputs.names, model.outputs.units);
  return units;
}

const std::string& ModeText::operator()(const Mode& mode) {
  if (text_.empty() || mode != mode_) {
    mode_ = mode;
    text_ = describe(laws_, mode);
  }
  return text_;
}

BranchTexts branch_texts(const std::vector<Law>& laws, const Event& event) {
  if (event.law < 0) return {};
  const std::string& name = laws.at(static_cast<std::size_t>(event.law)).name;
  return texts_of_branches(laws, event, std::count_if(laws.begin(), laws.end(), [&](const Law& other) {
                                 return other.name == name;
                               }) > 1);
}

EventTexts::EventTexts(const std::vector<Law>& laws) : laws_(laws) {
  std::map<std::string_view, int> counts;
  for (const Law& law : laws) ++counts[law.name];
  for (const Law& law : laws) is_repeated_.push_back(counts.at(law.name) > 1 ? 1 : 0);
}

BranchTexts EventTexts::operator()(const Event& event) const {
  if (event.law < 0) return {};
  return texts_of_branches(laws_, event, is_repeated_.at(static_cast<std::size_t>(event.law)) != 0);
}

}  // namespace perp

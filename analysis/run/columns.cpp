#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

#include <perp/analysis/run/columns.hpp>

namespace perp {
namespace {

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

/// "mode", unless a variable or an output is called so.
std::string name_of_mode(std::set<std::string> taken, const std::vector<std::string>& lambda) {
  if (taken.count("mode") == 0) return "mode";
  taken.insert(lambda.begin(), lambda.end());
  std::string name = "mode_text";
  while (taken.count(name) > 0) name.insert(0, "_");
  return name;
}

/// Can the columns of all multipliers have the names of their laws, beside those that are taken?
bool have_names_of_laws(const std::vector<Law>& laws, std::set<std::string> taken) {
  return std::all_of(laws.begin(), laws.end(), [&](const Law& law) {
    return is_plain(law.name) && taken.insert("lambda_" + law.name).second && taken.insert("w_" + law.name).second;
  });
}

/// What makes "lambda" and "w" names that are not taken.
std::string free_ending(std::string ending, const std::set<std::string>& taken) {
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
  Columns columns;
  std::set<std::string> taken;
  for (const Variable& variable : model.variables) {
    columns.x.push_back(variable.name);
    taken.insert(variable.name);
  }
  columns.outputs = model.outputs.names;
  taken.insert(columns.outputs.begin(), columns.outputs.end());
  const std::vector<Law>& laws = model.laws();
  const std::set<std::string> own_names = taken;
  taken.insert({"t", "mode"});
  const bool by_name = have_names_of_laws(laws, taken);
  for (std::size_t i = 0; i < laws.size(); ++i) {
    const std::string own = i < model.multipliers.size() ? model.multipliers[i] : "";
    if (!own.empty() && taken.count(own) + taken.count("w_" + own) == 0) {  // the user's name
      columns.lambda.push_back(own);
      columns.w.push_back("w_" + own);
      continue;
    }
    const std::string ending = free_ending(by_name ? "_" + laws[i].name : fmt::format("{}", i + 1), taken);
    columns.lambda.push_back("lambda" + ending);
    columns.w.push_back("w" + ending);
  }
  columns.mode = name_of_mode(own_names, columns.lambda);
  return columns;
}

std::map<std::string, std::string> column_units(const Model& model) {
  const Columns columns = columns_of(model);
  std::map<std::string, std::string> units;
  for (const Variable& variable : model.variables) units[variable.name] = variable.unit;
  const auto add = [&units](const std::vector<std::string>& names, const std::vector<std::string>& of) {
    for (std::size_t k = 0; k < std::min(names.size(), of.size()); ++k) units[names[k]] = of[k];
  };
  add(columns.lambda, model.multiplier_units);
  add(columns.outputs, model.outputs.units);
  std::erase_if(units, [](const auto& item) { return item.second.empty(); });
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

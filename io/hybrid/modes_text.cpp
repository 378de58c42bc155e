#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/io/hybrid/modes_text.hpp>
#include <perp/io/text/text_table.hpp>

namespace perp::io {
namespace {

constexpr std::size_t most_listed = 64;

int rows_of(const HybridModel& model) { return static_cast<int>(model.f.size() + model.g.size()); }

std::string row_word(const HybridModel& model, int row) {
  return row < rows_of(model) ? model.row_name(row) : model.binaries[at(row - rows_of(model))].name;
}

/// "010.1*": a digit for each binary, s where it slides, * where any value is meant.
std::string digits(const std::vector<int>& z) {
  std::string text;
  for (const int value : z)
    text += value == any_binary ? '*'
                                : (value == released_binary ? 's' : static_cast<char>('0' + value));
  return text;
}

std::vector<int> values_of(const HybridContinuation& c) {
  std::vector<int> z;
  for (int i = 0; i < static_cast<int>(c.z.size()); ++i)
    z.push_back(std::binary_search(c.released.begin(), c.released.end(), i)
                    ? released_binary
                    : static_cast<int>(std::round(c.z[at(i)])));
  return z;
}

std::string numbers(const HybridModes& modes, const HybridContinuation& c) {
  std::string text;
  const HybridModel& model = modes.model();
  const auto add = [&](const std::string& name, double value) {
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, short_number(value));
  };
  for (int j = 0; j < model.n(); ++j)
    if (modes.structure().is_state[at(j)])
      add("der(" + model.head.variables[at(j)].name + ")", c.rates[j]);
  for (int j = 0; j < model.n(); ++j)
    if (!modes.structure().is_state[at(j)]) add(model.head.variables[at(j)].name, c.x[j]);
  for (const int i : c.released) add(model.binaries[at(i)].name, c.z[at(i)]);
  return text;
}

std::string names_of_block(const HybridModes& modes, int block) {
  std::vector<std::string> names;
  for (const int unknown : modes.structure().blocks[at(block)].unknowns)
    names.push_back(unknown_name(modes.model(), modes.structure(), unknown));
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Names of the binaries of the called sub-problems, in their order.
std::vector<std::string> called_binaries(const HybridModes& modes,
                                         const HybridContinuations& found) {
  std::vector<int> list;
  for (const int block : found.called)
    for (const int unknown : modes.structure().blocks[at(block)].unknowns)
      if (unknown >= modes.model().n()) list.push_back(unknown - modes.model().n());
  std::sort(list.begin(), list.end());
  std::vector<std::string> names;
  for (const int i : list) names.push_back(modes.model().binaries[at(i)].name);
  return names;
}

std::string violated_text(const HybridModes& modes, const HybridContinuations& found) {
  std::string text;
  for (const int row : found.violated)
    text += fmt::format("violated     {}\n", row_text(modes.model(), row));
  std::string called;
  for (const int block : found.called) {
    const std::string names = names_of_block(modes, block);
    if (!names.empty())
      called += fmt::format("{}{} ({})", called.empty() ? "" : ", ", block + 1, names);
  }
  if (!called.empty())
    text +=
        fmt::format("called       sub-problem{} {}\n", found.called.size() == 1 ? "" : "s", called);
  return text;
}

std::vector<std::string> row_words(const HybridModel& model, const std::vector<int>& rows) {
  std::vector<std::string> words;
  for (const int row : rows) words.push_back(row_word(model, row));
  return words;
}

std::string excluded_text(const HybridModes& modes, const HybridContinuations& found) {
  if (found.excluded.empty()) return {};
  std::string text = fmt::format("excluded     {}\n", found.excluded_count);
  TextTable table({"z", "by"});
  for (const Exclusion& exclusion : found.excluded) {
    const std::vector<std::string> rows = row_words(modes.model(), exclusion.rows);
    table.add({digits(exclusion.z), fmt::format("{}{}{}{}", fmt::join(rows, ", "),
                                                rows.empty() ? "it " : " ", exclusion.why,
                                                exclusion.is_shown ? "" : " (not shown)")});
  }
  text += table.text("  ");
  const long more = found.excluded_count - static_cast<long>(found.excluded.size());
  return more > 0 ? text + fmt::format("  ... {} more\n", more) : text;
}

Json json_of(const ConstraintJet& row) {
  if (row.is_void) return {{"void", true}};
  if (row.is_held) return {{"held", true}};
  return {{"derivatives", row.derivatives}};
}

Json json_of(const HybridModes& modes, const HybridContinuation& c) {
  const HybridModel& model = modes.model();
  Json item;
  item["z"] = Json::object();
  for (int i = 0; i < model.q(); ++i) item["z"][model.binaries[at(i)].name] = c.z[at(i)];
  item["slides"] = Json::array();
  for (const int i : c.released) item["slides"].push_back(model.binaries[at(i)].name);
  item["verdict"] = c.is_strict ? "strict" : "weak";
  item["der"] = Json::object();
  item["y"] = Json::object();
  for (int j = 0; j < model.n(); ++j) {
    const bool is_state = modes.structure().is_state[at(j)] != 0;
    item[is_state ? "der" : "y"][model.head.variables[at(j)].name] = is_state ? c.rates[j] : c.x[j];
  }
  item["constraints"] = Json::array();
  for (const ConstraintJet& row : c.constraints) item["constraints"].push_back(json_of(row));
  item["distance"] = {{"outside", c.outside}, {"inside", c.inside}, {"root", c.root}};
  item["rate_norm_squared"] = c.rate_norm;
  return item;
}

/// The rows and unknowns of each sub-problem.
Json blocks_of(const HybridModes& modes) {
  Json blocks = Json::array();
  for (const SubProblem& block : modes.structure().blocks) {
    Json item{{"rows", Json::array()}, {"unknowns", Json::array()}};
    for (const int row : block.rows) item["rows"].push_back(modes.model().row_name(row));
    for (const int unknown : block.unknowns)
      item["unknowns"].push_back(unknown_name(modes.model(), modes.structure(), unknown));
    blocks.push_back(std::move(item));
  }
  return blocks;
}

/// What stands above the values of the binaries.
std::string header_of_binaries(const HybridModel& model) {
  std::vector<std::string> names;
  for (const Binary& binary : model.binaries) names.push_back(binary.name);
  if (names.empty()) return "z";
  return names.size() > 3 ? names.front() + ".." + names.back() : fmt::format("{}", fmt::join(names, ","));
}

/// How many continue, as far as is known.
std::string count_text(const HybridContinuations& found) {
  const std::size_t listed = found.list.size();
  if (!found.count) return fmt::format("{}{}", listed, found.is_complete ? "" : ", perhaps more");
  return found.is_complete ? fmt::format("{}", listed) : fmt::format("{}, the best {} in the list", *found.count, listed);
}

}  // namespace

std::string row_text(const HybridModel& model, int row) {
  const int equations = static_cast<int>(model.f.size());
  if (row >= rows_of(model))
    return model.binaries[at(row - rows_of(model))].name + " leaves [0, 1]";
  const std::string& text =
      row < equations ? model.equation_texts[at(row)] : model.constraints[at(row - equations)].text;
  return fmt::format("{}: {}", model.row_name(row), text);
}

std::string modes_table(const HybridModes& modes, const HybridContinuations& found) {
  std::string text = violated_text(modes, found);
  text += "continuations " + count_text(found) + "\n";
  TextTable table({"", "#", header_of_binaries(modes.model()), "outside", "inside", "verdict", "with"});
  for (std::size_t k = 0; k < std::min(most_listed, found.list.size()); ++k) {
    const HybridContinuation& c = found.list[k];
    table.add({found.chosen == static_cast<int>(k) ? "*" : "", fmt::format("{}", k + 1),
               digits(values_of(c)), fmt::format("{}", c.outside), fmt::format("{}", c.inside),
               c.is_strict ? "strict" : "weak", numbers(modes, c)});
  }
  if (!found.list.empty()) text += table.text();
  if (found.list.size() > most_listed)
    text += fmt::format("  ... {} more\n", found.list.size() - most_listed);
  text += fmt::format("decided by   {}\n", found.decided_by);
  for (const std::string& note : found.notes) text += fmt::format("note         {}\n", note);
  return text + excluded_text(modes, found);
}

Json modes_to_json(const HybridModes& modes, const HybridContinuations& found) {
  const HybridModel& model = modes.model();
  Json json;
  json["status"] = to_string(found.status);
  json["complete"] = found.is_complete;
  if (found.count) json["count"] = *found.count;
  json["continuations"] = Json::array();
  for (const HybridContinuation& c : found.list) json["continuations"].push_back(json_of(modes, c));
  json["chosen"] = found.chosen ? json["continuations"][at(*found.chosen)]["z"] : Json(nullptr);
  json["decided_by"] = found.decided_by;
  json["violated_by_previous"] = Json::array();
  for (const int row : found.violated) json["violated_by_previous"].push_back(row_word(model, row));
  json["called"] = called_binaries(modes, found);
  json["blocks"] = blocks_of(modes);
  json["excluded"] = Json::array();
  for (const Exclusion& exclusion : found.excluded)
    json["excluded"].push_back(
        {{"z", digits(exclusion.z)},
         {"rows", row_words(model, exclusion.rows)},
         {"why", exclusion.why},
         {"shown", exclusion.is_shown}});
  json["excluded_count"] = found.excluded_count;
  json["notes"] = found.notes;
  return json;
}

}  // namespace perp::io

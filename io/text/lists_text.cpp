// What is known by name, as tables for people: for `perp list` and the Python module.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <array>

#include <perp/analysis/measures/reductions.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/core/law.hpp>
#include <perp/core/laws/law_table.hpp>
#include <perp/io/text/lists_text.hpp>
#include <perp/io/text/text_table.hpp>
#include <perp/lcp/solver.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/models/language/run_options.hpp>

namespace perp::io {
namespace {

std::string list_models() {
  TextTable table({"name", "variables", "laws", "exact", "description"});
  ReadOptions known;
  known.hybrid = true;
  for (const std::string& name : zoo()) {
    const Model model = read_model(find_model(name), {}, known);
    table.add({name, fmt::format("{}", model.variables.size()),
               fmt::format("{}", model.laws().size()), model.exact.empty() ? "-" : "yes",
               model.source.empty() ? model.name : model.name + "; " + model.source});
  }
  return table.text();
}

std::string list_laws() {
  TextTable table({"name", "numbers", "meaning"});
  for (const NamedLaw& law : named_laws())
    table.add({law.name, fmt::format("{}", law.arguments), law.meaning});
  return table.text();
}

std::string list_schemes() {
  TextTable table({"name", "meaning", "options"});
  for (const SchemeEntry* entry : scheme_entries())
    table.add({entry->name, entry->meaning, fmt::format("{}", fmt::join(entry->keys(), ", "))});
  return table.text();
}

/// The value that an option has where none is given.
std::string default_of(const RunOption& option) {
  const RunOptions run;
  if (const auto* number = std::get_if<double RunOptions::*>(&option.member))
    return run.**number == 0 ? "span / 1000" : fmt::format("{}", run.**number);
  if (const auto* yes = std::get_if<bool RunOptions::*>(&option.member))
    return run.**yes ? "true" : "false";
  if (const auto* own = std::get_if<RunOption::Own>(&option.member))
    return fmt::format("{}", own->fallback);
  const std::string& word = run.*std::get<std::string RunOptions::*>(option.member);
  return word.empty() ? "-" : word;
}

std::string list_options() {
  TextTable table({"option", "default", "schemes", "meaning"});
  for (const RunOption& option : run_options())
    for (const auto& [meaning, schemes] : meanings_of(option.key))
      table.add({option.key, default_of(option), fmt::format("{}", fmt::join(schemes, ", ")), meaning});
  return table.text();
}

std::string list_solvers() {
  TextTable table({"name", "meaning"});
  for (const MlcpSolver* method : solvers()) table.add({method->name, method->description});
  return table.text();
}

std::string list_measures() {
  TextTable table({"measure", "meaning"});
  for (const ReductionForm& form : reduction_forms())
    table.add({fmt::format("{}({})", form.name, form.arguments), form.meaning});
  return table.text();
}

struct Kind {
  const char* name;
  std::string (*text)();
};
constexpr std::array<Kind, 5> kinds{{{"models", list_models},
                                     {"laws", list_laws},
                                     {"schemes", list_schemes},
                                     {"solvers", list_solvers},
                                     {"measures", list_measures}}};

}  // namespace

std::string list_text(const std::string& what, bool options) {
  std::vector<std::string> names;
  for (const Kind& known : kinds) names.emplace_back(known.name);
  const Kind& kind = kinds[find_name(what, names, "list")];
  if (options && kind.text != list_schemes)
    throw InvalidInput(fmt::format("--options is of perp list schemes: {} have none", what));
  return options ? list_options() : kind.text();
}

}  // namespace perp::io

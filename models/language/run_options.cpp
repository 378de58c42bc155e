#include <fmt/format.h>
#include <algorithm>
#include <string_view>

#include <perp/models/language/run_options.hpp>
#include <perp/models/language/scheme_table.hpp>

namespace perp {

const std::vector<RunOption>& run_options() {
  static const RunOption::Allowed positive{0, inf, true, "a number > 0"};
  static const RunOption::Allowed weight{0.5, 1, false, "a number in [0.5, 1]"};
  static const std::vector<RunOption> table{
      {"cross_check", &RunOptions::cross_check, "",
       "compare every choice of a mode with a short implicit Euler step"},
      {"h", &RunOptions::h, "H", "step length; of scheme located the distance of rows", positive},
      {"policy", &RunOptions::policy, "NAME",
       "the continuation taken where several start: minimal_norm, stay, all (minimal_norm, and the "
       "tree of solutions)",
       {},
       &KnownNames::policies},
      {"scheme", &RunOptions::scheme, "NAME", "see perp list schemes", {}, &KnownNames::schemes},
      {"selector", &RunOptions::selector, "NAME",
       "rule that chooses between several solutions: keep_mode, continuation, minimal_norm, first",
       {},
       &KnownNames::selectors},
      {"solver", &RunOptions::solver, "NAME",
       "method for selector first and for steps too large to enumerate, of affine systems; see perp "
       "list solvers",
       {},
       &KnownNames::solvers},
      {"split_at_events", &RunOptions::split_at_events, "",
       "make a step in which the mode changes in two"},
      {"theta", &RunOptions::theta, "NUMBER", "weight of the new state, in [0.5, 1]", weight},
      {"tol", &RunOptions::tol, "NUMBER",
       "largest accepted residual where a solver makes the step of an affine system, or of an impact; "
       "of scheme located the relative error",
       positive},
  };
  return table;
}

namespace {

long modes_of(const std::vector<Law>& laws) {
  long count = 1;
  for (const Law& law : laws)
    if (count <= most_tabled_modes) count *= static_cast<long>(law.branches.size());
  return count;
}

}  // namespace

std::string modes_by_rule(const Model& model) {
  return model.hybrid == nullptr ? "" : "modes of this model are chosen by the rule nearest_mode";
}

std::string no_solver_is_called(const Model& model) {
  if (!std::holds_alternative<Lcs>(model.system))
    return "the equations are not affine: their steps are made by Newton's method";
  if (model.run.selector == "first" || modes_of(model.laws()) > most_tabled_modes) return {};
  return fmt::format("selector {} finds the steps of at most {} modes without a solver",
                     model.run.selector, most_tabled_modes);
}

const std::vector<const SchemeEntry*>& scheme_entries() {
  static const std::vector<const SchemeEntry*> sorted = [] {
    std::vector<const SchemeEntry*> list = scheme_files::scheme_table();
    std::sort(list.begin(), list.end(), [](const SchemeEntry* a, const SchemeEntry* b) {
      return std::string_view(a->name) < b->name;
    });
    return list;
  }();
  return sorted;
}

const std::vector<SchemeKeys>& scheme_keys() {
  static const std::vector<SchemeKeys> table = [] {
    std::vector<SchemeKeys> list;
    for (const SchemeEntry* entry : scheme_entries()) list.push_back({entry->name, entry->keys, entry->conditional});
    return list;
  }();
  return table;
}

namespace {

bool holds(const std::vector<std::string>& keys, const std::string& key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

}  // namespace

bool reads(const std::string& scheme, const std::string& key) {
  if (key == "t" || key == "scheme") return true;
  return std::any_of(scheme_keys().begin(), scheme_keys().end(), [&](const SchemeKeys& entry) {
    return entry.name == scheme && holds(entry.keys, key);
  });
}

bool has_effect(const Model& model, const std::string& key) {
  if (!reads(model.run.scheme, key)) return false;
  for (const SchemeKeys& scheme : scheme_keys())
    for (const ConditionalKey& entry : scheme.conditional)
      if (scheme.name == model.run.scheme && entry.key == key && !entry.without_effect(model).empty())
        return false;
  return true;
}

std::string schemes_reading(const std::string& key) {
  std::string list;
  for (const SchemeKeys& scheme : scheme_keys())
    if (holds(scheme.keys, key)) list += (list.empty() ? "" : ", ") + std::string(scheme.name);
  return list;
}

bool honours_restitution(const std::string& scheme) {
  return std::any_of(scheme_entries().begin(), scheme_entries().end(),
                     [&](const SchemeEntry* entry) { return entry->name == scheme && entry->rebounds; });
}

}  // namespace perp

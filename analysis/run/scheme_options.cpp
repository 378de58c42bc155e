// Rows of the tables of options that several schemes share. Called by analysis/schemes/.
#include <fmt/format.h>
#include <algorithm>
#include <string_view>

#include <perp/analysis/run/scheme_options.hpp>
#include <perp/core/system/sparse_lcs.hpp>
#include <perp/lcp/parametric/mode_cache.hpp>
#include <perp/lcp/selector.hpp>
#include <perp/lcp/solver.hpp>

namespace perp {
namespace {

/// Steps of an affine system with at most so many modes find their solutions in a table of them.
constexpr long most_tabled_modes = ModeCache::table_limit;

constexpr std::string_view solver_on_ranks = "petsc";

/// Options of PETSc are of its solver.
std::string no_petsc(const Model& model) { return model.run.solver == solver_on_ranks ? "" : "the solver is not petsc"; }

long modes_of(const std::vector<Law>& laws) {
  long count = 1;
  for (const Law& law : laws)
    if (count <= most_tabled_modes) count *= static_cast<long>(law.branches.size());
  return count;
}

/// A solver and its tolerance are of steps that are not found in the table of modes: why none is
/// called, empty where one is.
std::string no_solver_is_called(const Model& model) {
  if (model.system.affine() == nullptr && !as_sparse_lcs(model.system.functions()))
    return "the equations are not affine: their steps are made by Newton's method";
  if (model.run.solver == solver_on_ranks || model.run.selector == "first" || modes_of(model.laws()) > most_tabled_modes) return {};
  return fmt::format("selector {} finds the steps of at most {} modes without a solver",
                     model.run.selector, most_tabled_modes);
}

std::vector<std::string> known_selectors() {
  std::vector<std::string> names;
  for (const Selector selector : selectors()) names.emplace_back(to_string(selector));
  return names;
}

std::vector<std::string> known_solvers() {
  std::vector<std::string> names;
  for (const MlcpSolver* method : solvers()) names.emplace_back(method->name);
  return names;
}

}  // namespace

std::string modes_by_rule(const Model& model) {
  return model.hybrid == nullptr ? "" : "modes of this model are chosen by the rule nearest_mode";
}

RunOption length_option(const char* meaning) {
  return {.key = "h",
          .member = &RunOptions::h,
          .placeholder = "H",
          .meaning = meaning,
          .allowed = positive_number};
}

RunOption tolerance_option(const char* meaning, std::string (*without_effect)(const Model& model)) {
  return {.key = "tol",
          .member = &RunOptions::tol,
          .placeholder = "NUMBER",
          .meaning = meaning,
          .allowed = positive_number,
          .without_effect = without_effect};
}

RunOption theta_option() {
  return {.key = "theta",
          .member = &RunOptions::theta,
          .placeholder = "NUMBER",
          .meaning = "weight of the new state, in [0.5, 1]",
          .allowed = {0.5, 1, false, "a number in [0.5, 1]"}};
}

RunOption policy_option(std::string (*without_effect)(const Model& model)) {
  return {.key = "policy",
          .member = &RunOptions::policy,
          .placeholder = "NAME",
          .meaning = "the continuation taken where several start: minimal_norm, stay, all "
                     "(minimal_norm, and the tree of solutions)",
          .names = [] { return std::vector<std::string>{"minimal_norm", "stay", "all"}; },
          .without_effect = without_effect};
}

std::vector<RunOption> capturing_options(const std::vector<RunOption>& more) {
  std::vector<RunOption> table{
      length_option("step length"),
      {.key = "petsc",
       .member = &RunOptions::petsc,
       .placeholder = "OPTIONS",
       .meaning = "of solver petsc: PETSc's own options, e.g. \"-pc_type gamg\"",
       .without_effect = no_petsc},
      {.key = "selector",
       .member = &RunOptions::selector,
       .placeholder = "NAME",
       .meaning = "rule that chooses between several solutions: keep_mode, continuation, "
                  "minimal_norm, first",
       .names = known_selectors,
       .without_effect = modes_by_rule},
      {.key = "solver",
       .member = &RunOptions::solver,
       .placeholder = "NAME",
       .meaning = "method for selector first and for steps too large to enumerate, of affine "
                  "systems; see perp list solvers",
       .names = known_solvers,
       .without_effect = no_solver_is_called},
      {.key = "split_at_events",
       .member = &RunOptions::split_at_events,
       .placeholder = "",
       .meaning = "make a step in which the mode changes in two",
       .without_effect = modes_by_rule},
      tolerance_option("largest accepted residual where a solver makes the step of an affine system",
                       no_solver_is_called),
  };
  table.insert(table.end(), more.begin(), more.end());
  std::sort(table.begin(), table.end(), [](const RunOption& a, const RunOption& b) {
    return std::string_view(a.key) < b.key;
  });
  return table;
}

}  // namespace perp

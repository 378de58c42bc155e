#include <variant>

#include <perp/analysis/run/schemes.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/lcp/parametric/mode_cache.hpp>
#include <perp/models/language/run_options.hpp>
#include <perp/schemes/capturing/capturing.hpp>
#include <perp/schemes/check_options.hpp>
#include <perp/schemes/continuation/path_capturing.hpp>
#include <perp/schemes/located/located_run.hpp>

namespace perp {
namespace {

static_assert(most_tabled_modes == ModeCache::table_limit);
constexpr double no_nominal = 1;  ///< of a variable to which the file gives none

}  // namespace

const SchemeEntry& scheme(const std::string& name) {
  std::vector<std::string> names;
  for (const SchemeEntry* entry : scheme_entries()) names.emplace_back(entry->name);
  return *scheme_entries()[find_name(name, names, "scheme")];
}

BackwardEuler backward_euler_options(const Model& model) {
  return {.h = model.run.h,
          .selector = selector_from(model.run.selector),
          .tol = model.run.tol,
          .solver = model.run.solver,
          .split_at_events = model.run.split_at_events};
}

Located located_options(const Model& model) {
  Located located{.tol = model.run.tol,
                  .output_step = model.run.h,
                  .policy = model.run.policy == "stay" ? ContinuationPolicy::stay
                                                       : ContinuationPolicy::minimal_norm,
                  .cross_check = model.run.cross_check,
                  .restitution = model.restitution};
  for (const auto& variable : model.variables) located.names.push_back(variable.name);
  located.scale.resize(static_cast<Eigen::Index>(model.variables.size()));
  for (std::size_t j = 0; j < model.variables.size(); ++j)
    located.scale[static_cast<Eigen::Index>(j)] =
        model.variables[j].nominal == no_nominal ? 0 : model.variables[j].nominal;
  return located;
}

void check_located(const Model& model) {
  check_steps(model.run.span, model.run.h, {});
  const IntegrateOptions none;
  LocatedRun(equations_of(model), located_options(model), none);
}

bool is_affine(const Model& model) { return std::holds_alternative<Lcs>(model.system); }

Dcs equations_of(const Model& model) {
  return model.equations ? *model.equations : as_dcs(model.lcs());
}

void check_run(const Model& model) {
  if (const Lcs* lcs = std::get_if<Lcs>(&model.system)) Capturing(*lcs, step_options(model));
  if (const auto check = scheme(model.run.scheme).check; check != nullptr) check(model);
}

Theta step_options(const Model& model) {
  return {.h = model.run.h,
          .theta = scheme(model.run.scheme).theta(model.run),
          .selector = selector_from(model.run.selector),
          .tol = model.run.tol,
          .solver = model.run.solver,
          .split_at_events = model.run.split_at_events};
}

std::unique_ptr<Scheme> capturing_scheme(const Model& model) {
  if (!scheme(model.run.scheme).lists_solutions)
    throw InvalidInput("the solutions of a step are listed for backward_euler and theta only");
  if (const Lcs* lcs = std::get_if<Lcs>(&model.system))
    return perp::capturing_scheme(*lcs, step_options(model));
  return perp::capturing_scheme(std::get<Dcs>(model.system), step_options(model));
}

}  // namespace perp

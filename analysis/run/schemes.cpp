#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <variant>

#include <perp/analysis/hybrid/ways/hybrid_branches.hpp>
#include <perp/analysis/hybrid/run/hybrid_product.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/core/dcs_evaluator.hpp>
#include <perp/models/language/run_options.hpp>
#include <perp/schemes/capturing/capturing.hpp>
#include <perp/schemes/check_options.hpp>
#include <perp/schemes/system_schemes.hpp>
#include <perp/schemes/located/located_run.hpp>

namespace perp {
namespace {

HybridSchemes hybrid_schemes(const Model& model) {
  HybridSchemes options;
  if (model.run.scheme == "located") {
    options.located = located_options(model);
    options.steps.theta = 1;
  } else {
    options.steps = step_options(model);
  }
  return options;
}

/// The arguments w of the laws where a run ends, and the sizes of their terms.
struct ArgumentsAtEnd {
  Vector w, terms;
};
ArgumentsAtEnd arguments_at_end(const Dcs& equations, const Trajectory& run) {
  DcsEvaluator evaluator(equations);
  const int n = evaluator.n(), m = evaluator.m();
  Vector z = Vector::Zero(evaluator.inputs()), rows(n + m);
  z[0] = run.t.back();
  z.segment(1 + n, n) = run.x.back();
  z.tail(m) = run.lambda.back();
  std::vector<double> slopes(evaluator.entries().size());
  evaluator.linearize(z.data(), rows.data(), slopes.data());
  Vector terms = rows.cwiseAbs();
  for (std::size_t k = 0; k < slopes.size(); ++k)
    terms[evaluator.entries()[k].row] += std::abs(slopes[k] * z[evaluator.entries()[k].column]);
  return {rows.tail(m), terms.tail(m)};
}

/// The constraint that is nearest to its bound, in the sizes of its terms, -1: there is none.
int nearest_constraint(const std::vector<Law>& laws, const ArgumentsAtEnd& end) {
  int nearest = -1;
  for (int i = 0; i < end.w.size(); ++i)
    if (is_constraint(laws[static_cast<std::size_t>(i)]) &&
        (nearest < 0 || std::abs(end.w[i]) * end.terms[nearest] < std::abs(end.w[nearest]) * end.terms[i]))
      nearest = i;
  return nearest;
}

/// Names the constraint that is nearest to its bound where a run of a model with constraints ends.
void name_constraint(const Model& model, Trajectory& run) {
  const bool ends = run.status == Status::no_solution || run.status == Status::not_solved;
  if (!ends || run.t.empty() || !model.equations || run.lambda.back().size() != model.m()) return;
  const ArgumentsAtEnd end = arguments_at_end(*model.equations, run);
  const int nearest = nearest_constraint(model.laws(), end);
  if (nearest < 0) return;
  const std::string text = fmt::format("; constraint '{}' is nearest to its bound: {:.3g} <= 0",
                                       model.laws()[static_cast<std::size_t>(nearest)].name,
                                       end.w[nearest]);
  run.message += text;
  if (!run.events.empty()) run.events.back().note += text;
}

}  // namespace

Trajectory with_binaries(const Model& model, Trajectory run) {
  for (Event& event : run.events)
    if (event.kind == EventKind::crossing && std::binary_search(model.binaries.begin(),
                                                                model.binaries.end(), event.law))
      event.kind = EventKind::mode_change;
  name_constraint(model, run);
  return run;
}

const SchemeEntry& scheme(const std::string& name) {
  if (const SchemeEntry* entry = find_scheme(name)) return *entry;
  std::vector<std::string> names;
  for (const SchemeEntry* entry : scheme_entries()) names.emplace_back(entry->name);
  return *scheme_entries()[find_name(name, names, "scheme")];
}

BackwardEuler backward_euler_options(const Model& model) {
  return {.h = model.run.h,
          .selector = selector_from(model.run.selector),
          .tol = model.run.tol,
          .solver = model.run.solver,
          .split_at_events = model.run.split_at_events,
          .petsc = model.run.petsc};
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
        model.variables[j].has_nominal ? model.variables[j].nominal : 0;
  return located;
}

void require_laws(const Model& model, const std::string& what) {
  if (model.hybrid != nullptr)
    throw InvalidInput(fmt::format(
        "{}: model '{}' has binaries that no law of their own stands for; perp run with "
        "backward_euler, theta and located, perp modes and perp check know such models",
        what, model.name));
}

void check_located(const Model& model) {
  check_steps(model.run.span, model.run.h, {});
  const IntegrateOptions none;
  LocatedRun(equations_of(model), located_options(model), none);
}

bool is_affine(const Model& model) { return model.system.affine() != nullptr; }

Dcs equations_of(const Model& model) {
  return model.equations ? *model.equations : model.system.functions();
}

Trajectory run_hybrid(const Model& model, const IntegrateOptions& options,
                      const SensitivityRequest& sensitivities) {
  auto structure = structure_of_binaries(model);
  if (sensitivities.columns() == 0) {
    const IndependentSets sets = independent_sets(*model.hybrid, *structure);
    if (sets.parts() > 1) return run_hybrid_product(model, hybrid_schemes(model), options, sets);
  }
  return HybridRun(model, hybrid_schemes(model), options, sensitivities, std::move(structure))();
}

SolutionBranches run_hybrid_branches(const Model& model, const IntegrateOptions& options) {
  return hybrid_branches(model, hybrid_schemes(model), options);
}

void check_run(const Model& model) {
  if (model.hybrid != nullptr) {
    if (!scheme(model.run.scheme).runs_binaries) require_laws(model, "scheme " + model.run.scheme);
    const IntegrateOptions bounded{.bounds = model.bounds()};
    HybridRun(model, hybrid_schemes(model), bounded);
    return;
  }
  if (const Lcs* lcs = model.system.affine()) Capturing(*lcs, step_options(model));
  if (const auto check = scheme(model.run.scheme).check; check != nullptr) check(model);
}

Theta step_options(const Model& model) {
  return {.h = model.run.h,
          .theta = scheme(model.run.scheme).theta(model.run),
          .selector = selector_from(model.run.selector),
          .tol = model.run.tol,
          .solver = model.run.solver,
          .split_at_events = model.run.split_at_events,
          .petsc = model.run.petsc};
}

std::unique_ptr<Scheme> capturing_scheme(const Model& model) {
  require_laws(model, "solutions of steps");
  if (!scheme(model.run.scheme).lists_solutions)
    throw InvalidInput("the solutions of a step are listed for backward_euler and theta only");
  return perp::capturing_scheme(model.system, step_options(model));
}

}  // namespace perp

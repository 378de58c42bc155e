// Backward Euler: the scheme that runs where none is named.
#include <perp/analysis/run/policy.hpp>
#include <perp/analysis/run/scheme_options.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/models/language/scheme_table.hpp>
#include <perp/schemes/lanes/ensemble.hpp>
#include <perp/schemes/system_schemes.hpp>

namespace perp::scheme_files {
namespace {

Trajectory run_backward_euler(const Model& model, const IntegrateOptions& options) {
  if (model.hybrid != nullptr) return run_hybrid(model, options);
  return with_binaries(model, integrate(model.system, model.x0(), model.run.span, backward_euler_options(model), options));
}

/// Models with binaries alone: their runs have no steps side by side.
std::vector<Trajectory> run_together(const std::vector<const Model*>& models,
                                     const std::vector<const IntegrateOptions*>& options) {
  std::vector<EnsembleRun> runs;
  for (std::size_t k = 0; k < models.size(); ++k)
    if (const Model& model = *models[k]; model.hybrid == nullptr)
      runs.push_back({model.system, model.x0(), model.run.span, backward_euler_options(model), options[k]});
  std::vector<Trajectory> together = integrate(runs), results;
  results.reserve(models.size());
  std::size_t next = 0;
  for (std::size_t k = 0; k < models.size(); ++k)
    results.push_back(models[k]->hybrid == nullptr ? with_binaries(*models[k], std::move(together[next++]))
                                                   : run_backward_euler(*models[k], *options[k]));
  return results;
}

}  // namespace

extern const SchemeEntry backward_euler;
const SchemeEntry backward_euler{
    .name = "backward_euler",
    .meaning = "implicit Euler, event capturing: one complementarity problem a step",
    .options = capturing_options({policy_option(policy_of_binaries)}),
    .run = run_backward_euler,
    .run_all = run_together,
    .lists_solutions = true,
    .runs_binaries = true,
    .keeps_state = true};

}  // namespace perp::scheme_files

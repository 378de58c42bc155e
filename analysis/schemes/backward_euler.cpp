// Backward Euler: the scheme that runs where none is named.
#include <perp/analysis/run/policy.hpp>
#include <perp/analysis/run/scheme_options.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/models/language/scheme_table.hpp>
#include <perp/schemes/system_schemes.hpp>

namespace perp::scheme_files {
namespace {

Trajectory run_backward_euler(const Model& model, const IntegrateOptions& options) {
  if (model.hybrid != nullptr) return run_hybrid(model, options);
  return with_binaries(model, integrate(model.system, model.x0(), model.run.span, backward_euler_options(model), options));
}

}  // namespace

extern const SchemeEntry backward_euler;
const SchemeEntry backward_euler{
    .name = "backward_euler",
    .meaning = "implicit Euler, event capturing: one complementarity problem a step",
    .options = capturing_options({policy_option(policy_of_binaries)}),
    .run = run_backward_euler,
    .lists_solutions = true,
    .runs_binaries = true,
    .keeps_state = true};

}  // namespace perp::scheme_files

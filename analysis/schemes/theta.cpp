// The θ-method.
#include <perp/analysis/run/policy.hpp>
#include <perp/analysis/run/scheme_options.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/models/language/scheme_table.hpp>
#include <perp/schemes/system_schemes.hpp>

namespace perp::scheme_files {
namespace {

Trajectory run_theta(const Model& model, const IntegrateOptions& options) {
  if (model.hybrid != nullptr) return run_hybrid(model, options);
  return with_binaries(model, integrate(model.system, model.x0(), model.run.span, step_options(model), options));
}

}  // namespace

extern const SchemeEntry theta;
const SchemeEntry theta{
    .name = "theta",
    .meaning = "theta-method, lambda implicit (theta = 0.5: order 2 where lambda is constant)",
    .options = capturing_options({policy_option(policy_of_binaries), theta_option()}),
    .run = run_theta,
    .theta = [](const RunOptions& options) { return options.theta; },
    .lists_solutions = true,
    .runs_binaries = true,
    .keeps_state = true};

}  // namespace perp::scheme_files

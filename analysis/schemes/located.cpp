// The scheme that locates events, of high order.
#include <perp/analysis/run/policy.hpp>
#include <perp/analysis/run/scheme_options.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/models/language/scheme_table.hpp>
#include <perp/schemes/run/system_runs.hpp>

namespace perp::scheme_files {
namespace {

Trajectory run_located(const Model& model, const IntegrateOptions& options) {
  if (model.hybrid != nullptr) return run_hybrid(model, options);
  const Dcs system = equations_of(model);
  const Located located = located_options(model);
  return with_binaries(model, model.binaries.empty()
                                  ? integrate(system, model.x0(), model.run.span, located, options)
                                  : integrate_parts(system, model.x0(), model.run.span, located, options));
}

}  // namespace

extern const SchemeEntry located;
const SchemeEntry located{
    .name = "located",
    .meaning = "Radau IIA of order 5, 9 or 13; events to machine precision, --tol is the error",
    .options = {{.key = "cross_check",
                 .member = &RunOptions::cross_check,
                 .placeholder = "",
                 .meaning = "compare every choice of a mode with a short implicit Euler step",
                 .without_effect = modes_by_rule},
                length_option("distance of rows"),
                policy_option(policy_of_rule),
                tolerance_option("relative error")},
    .run = run_located,
    .check = check_located,
    .runs_binaries = true,
    .rebounds = true};

}  // namespace perp::scheme_files

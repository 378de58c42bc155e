// Backward Euler: the scheme that runs where none is named.
#include <variant>

#include <perp/analysis/run/policy.hpp>
#include <perp/analysis/run/scheme_options.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/models/language/scheme_table.hpp>

namespace perp::scheme_files {
namespace {

Trajectory run_backward_euler(const Model& model, const IntegrateOptions& options) {
  if (model.hybrid != nullptr) return run_hybrid(model, options);
  return std::visit(
      [&](const auto& system) {
        return with_binaries(model, integrate(system, model.x0(), model.run.span,
                                              backward_euler_options(model), options));
      },
      model.system);
}

}  // namespace

extern const SchemeEntry backward_euler;
const SchemeEntry backward_euler{
    .name = "backward_euler",
    .meaning = "implicit Euler, event capturing: one complementarity problem a step",
    .options = capturing_options({policy_option(policy_of_binaries)}),
    .run = run_backward_euler,
    .lists_solutions = true,
    .runs_binaries = true};

}  // namespace perp::scheme_files

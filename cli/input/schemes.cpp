#include <perp/cli/input/arguments.hpp>
#include <perp/cli/input/schemes.hpp>

namespace perp::cli {
namespace {

Trajectory run_backward_euler(const Model& model, const IntegrateOptions& options) {
  return integrate(model.system, model.x0(), model.run.span,
                   BackwardEuler{.h = model.run.h,
                                 .selector = selector_from(model.run.selector),
                                 .tol = model.run.tol,
                                 .solver = model.run.solver},
                   options);
}

Trajectory run_theta(const Model& model, const IntegrateOptions& options) {
  return integrate(model.system, model.x0(), model.run.span, step_options(model), options);
}

double one(const RunOptions& /*options*/) { return 1; }
double theta_of(const RunOptions& options) { return options.theta; }

}  // namespace

const std::vector<SchemeEntry>& schemes() {
  static const std::vector<SchemeEntry> table{
      {"backward_euler", "implicit Euler, event capturing: one complementarity problem a step",
       run_backward_euler, one},
      {"theta", "theta-method on the smooth part (theta = 0.5: second order between events)",
       run_theta, theta_of},
  };
  return table;
}

const SchemeEntry& scheme(const std::string& name) {
  std::vector<std::string> names;
  for (const SchemeEntry& entry : schemes()) names.emplace_back(entry.name);
  return schemes()[find_name(name, names, "scheme")];
}

Theta step_options(const Model& model) {
  return {.h = model.run.h,
          .theta = scheme(model.run.scheme).theta(model.run),
          .selector = selector_from(model.run.selector),
          .tol = model.run.tol,
          .solver = model.run.solver};
}

}  // namespace perp::cli

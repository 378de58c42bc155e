// Backward Euler at a share of the step length, an option that no other scheme has.
#include <perp/analysis/run/schemes.hpp>
#include <perp/models/language/scheme_table.hpp>

namespace perp::scheme_files {
namespace {

Trajectory run_half_steps(const Model& model, const IntegrateOptions& options) {
  BackwardEuler scheme = backward_euler_options(model);
  scheme.h *= model.run.own.at("share");
  return integrate(model.lcs(), model.x0(), model.run.span, scheme, options);
}

}  // namespace

extern const SchemeEntry half_steps;
const SchemeEntry half_steps{.name = "half_steps",
                             .meaning = "backward Euler at a share of the step",
                             .options = {{.key = "h",
                                          .member = &RunOptions::h,
                                          .placeholder = "H",
                                          .meaning = "the whole step",
                                          .allowed = positive_number},
                                         {.key = "share",
                                          .member = RunOption::Own{0.5},
                                          .placeholder = "SHARE",
                                          .meaning = "the share that is made",
                                          .allowed = positive_number}},
                             .run = run_half_steps};

}  // namespace perp::scheme_files

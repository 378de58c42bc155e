// Velocity stepping of mechanical systems.
#include <fmt/format.h>

#include <perp/analysis/run/scheme_options.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/core/base/error.hpp>
#include <perp/models/language/scheme_table.hpp>

namespace perp::scheme_files {
namespace {

Trajectory run_moreau_jean(const Model& model, const IntegrateOptions& options) {
  if (!model.equations)
    throw InvalidInput(
        fmt::format("scheme moreau_jean: model '{}' is in the matrix form; expected "
                    "equations of a mechanical system",
                    model.name));
  return integrate(*model.equations, model.x0(), model.run.span,
                   MoreauJean{.h = model.run.h,
                              .theta = model.run.theta,
                              .restitution = model.restitution,
                              .tol = model.run.tol},
                   options);
}

}  // namespace

extern const SchemeEntry moreau_jean;
const SchemeEntry moreau_jean{
    .name = "moreau_jean",
    .meaning = "velocity stepping of mechanical systems with contacts and restitution",
    .options = {length_option("step length"), theta_option(),
                tolerance_option("largest accepted residual of an impact")},
    .run = run_moreau_jean,
    .rebounds = true,
    .keeps_state = true};

}  // namespace perp::scheme_files

// Bounds of all solutions: no trajectory, so that `perp run` and `perp enclose` ask for it before.
#include <fmt/format.h>

#include <perp/analysis/run/scheme_options.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/core/base/error.hpp>
#include <perp/models/language/scheme_table.hpp>

namespace perp::scheme_files {
namespace {

Trajectory run_enclosure(const Model& model, const IntegrateOptions& /*options*/) {
  throw InvalidInput(
      fmt::format("scheme enclosure bounds the solutions of model '{}' and gives no trajectory; "
                  "expected perp enclose, perp run, or another scheme",
                  model.name));
}

}  // namespace

extern const SchemeEntry enclosure;
const SchemeEntry enclosure{
    .name = "enclosure",
    .meaning = "bounds that are a proof, of all solutions: see perp enclose",
    .options = {length_option("distance of rows")},
    .run = run_enclosure};

}  // namespace perp::scheme_files

// The scheme that locates events, of high order.
#include <perp/analysis/run/schemes.hpp>
#include <perp/models/language/scheme_table.hpp>

namespace perp::scheme_files {
namespace {

Trajectory run_located(const Model& model, const IntegrateOptions& options) {
  return integrate(equations_of(model), model.x0(), model.run.span, located_options(model), options);
}

}  // namespace

extern const SchemeEntry located;
const SchemeEntry located{
    .name = "located",
    .meaning = "Radau IIA of order 5, 9 or 13; events to machine precision, --tol is the error",
    .keys = {"cross_check", "h", "policy", "tol"},
    .run = run_located,
    .check = check_located,
    .rebounds = true};

}  // namespace perp::scheme_files

// The extension module _perp, on which the package perp stands: it computes nothing itself.
#include <perp/python/bindings.hpp>

PYBIND11_MODULE(_perp, module) {
  using namespace perp::python;
  module.doc() = "What the package perp calls; see there.";
  module.attr("version") = PERP_VERSION;
  bind_errors(module);
  bind_models(module);
  bind_pictures(module);
  bind_results(module);
  bind_analyses(module);
  bind_forms(module);
  bind_studies(module);
  bind_sweeps(module);
}

#pragma once

#include <string>

#include <perp/models/language/model.hpp>
#include <perp/schemes/system_schemes.hpp>

namespace perp::test {

/// The model's run by backward_euler, theta (1/2) or located, a row every h.
inline Trajectory run_by_name(const Model& model, const std::string& scheme, double h) {
  if (scheme == "located") {
    Located options;
    options.output_step = h;
    return integrate(model.system, model.x0(), model.run.span, options);
  }
  return integrate(model.system, model.x0(), model.run.span, Theta{.h = h, .theta = scheme == "theta" ? 0.5 : 1});
}

}  // namespace perp::test

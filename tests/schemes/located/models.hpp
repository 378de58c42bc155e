#pragma once

#include <string>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/tests/paths.hpp>

namespace perp::test {

inline Model located_model(const std::string& name, const std::vector<Override>& set = {}) {
  return read_model(data_path("/hard_models/" + name + ".toml"), set);
}

inline Dcs system_of(const Model& model) {
  return model.equations ? *model.equations : as_dcs(model.lcs());
}

/// As the command line runs it: with the scales that the file gives.
inline Located located(const Model& model, double tol = 1e-10) {
  Located scheme{.tol = tol, .scale = Vector::Zero(static_cast<Eigen::Index>(model.variables.size()))};
  for (std::size_t j = 0; j < model.variables.size(); ++j)
    if (model.variables[j].nominal != 1)
      scheme.scale[static_cast<Eigen::Index>(j)] = model.variables[j].nominal;
  return scheme;
}

inline Trajectory run_located(const Model& model, double tol = 1e-10,
                              const IntegrateOptions& options = {}) {
  return integrate(system_of(model), model.x0(), model.run.span, located(model, tol), options);
}

inline Trajectory run_located(const std::string& text, double tol = 1e-10) {
  return run_located(read_model_text(text, "a test"), tol);
}

inline bool is_captured(const Trajectory& run) { return run.provenance.contains("first order from"); }

}  // namespace perp::test

#pragma once

#include <string>
#include <vector>

#include <perp/models/read_model.hpp>

namespace CLI {
class App;
}

namespace perp::cli {

/// The options of every command that takes a MODEL: they override keys of its file.
struct ModelOptions {
  std::string model;
  std::vector<std::string> set;
  std::string h, selector, scheme, theta, solver, t, tol;

  void add_to(CLI::App& app);         ///< MODEL and --set
  void add_step_to(CLI::App& app);    ///< --h
  void add_span_to(CLI::App& app);    ///< --t
  void add_scheme_to(CLI::App& app);  ///< --selector, --scheme, --theta, --solver, --tol
};

/// The model with all overrides; last come `more`, start values of variables given by the option
/// `more_option`. h is never 0 in the result. Errors in an option name the option as the user wrote
/// it. Throws ModelError, InvalidInput, FileError.
Model read(const ModelOptions& options, const std::vector<Override>& more = {},
           const std::string& more_option = "--at");

/// Names of the variables.
std::vector<std::string> variable_names(const Model& model);

/// "name (file)".
std::string title(const Model& model);

}  // namespace perp::cli

#pragma once

#include <functional>
#include <string>
#include <vector>

#include <perp/analysis/run/kept_run.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/models/language/model.hpp>
#include <perp/schemes/integrate.hpp>

namespace perp {

/// What a solution is differentiated by: starts of variables and parameters, in the order in which they were asked for.
struct SensitivityQuantities {
  SensitivityRequest request{};  ///< starts and parameters by which they are computed
  Matrix combination{};          ///< of the columns of these, one column for each quantity; empty: they are the same
  std::vector<std::string> names{};  ///< "x1(0)", "B1"
  std::vector<std::string>
      columns{};  ///< "x01", "p1": start of the first variable, first parameter
};

/// The quantities with these names, parameters and starts as "x1(0)"; without any all differential
/// starts and all parameters. Parameters and starts that are formulas of a parameter move with it.
/// `with(name, value)` is the model with another value of a parameter: one that moves the numbers of a
/// law or a restitution, which are read once, would be differentiated wrongly. Throws InvalidInput.
SensitivityQuantities sensitivity_quantities(
    const Model& model, const std::vector<std::string>& names,
    const std::function<Model(const std::string& name, double value)>& with);

/// Wrong options are found before files are touched. Throws InvalidInput.
void check_sensitivities(const Model& model);

/// The solution of scheme located and its derivatives, through switches, sliding and jumps, as the
/// observer of `options` is given them.
Trajectory integrate_sensitivities(const Model& model, const SensitivityQuantities& quantities,
                                   const IntegrateOptions& options);

/// The same with its rows kept, `options` as of `keep_run`.
KeptRun keep_sensitivities(const Model& model, const SensitivityQuantities& quantities, const KeepOptions& options);

}  // namespace perp

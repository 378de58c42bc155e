// Derivatives of the solution of a model: `perp sensitivities` asks for them.
#include <fmt/format.h>
#include <algorithm>

#include <perp/analysis/run/columns.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/analysis/sensitivities.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>

namespace perp {
namespace {

/// Law numbers and restitution are read once, as numbers: a parameter that moves them would be
/// differentiated wrongly.
void require_only_in_equations(
    const Model& model, const std::string& name, double value,
    const std::function<Model(const std::string& name, double value)>& with) {
  const Model other = with(name, value == 0 ? 1e-3 : value * (1 + 1e-3));
  if (other.laws() == model.laws() && other.restitution == model.restitution) return;
  throw InvalidInput(fmt::format(
      "--wrt {}: the parameter stands in the numbers of a law or a restitution, which are "
      "not differentiated; write it into the equations, e.g. F*sign(v) instead of "
      "relay(v, -F, F), or a reset instead of a restitution",
      name));
}

}  // namespace

SensitivityQuantities sensitivity_quantities(
    const Model& model, const std::vector<std::string>& names,
    const std::function<Model(const std::string& name, double value)>& with) {
  SensitivityQuantities result;
  const std::vector<std::string> variables = variable_names(model);
  std::vector<std::string> parameters;
  for (const auto& [name, value] : model.parameters) parameters.push_back(name);
  std::vector<std::string> asked = names, known = parameters;
  for (const std::string& name : variables) known.push_back(name + "(0)");
  if (names.empty()) {
    for (const int j : model.differential_variables())
      asked.push_back(variables[static_cast<std::size_t>(j)] + "(0)");
    asked.insert(asked.end(), parameters.begin(), parameters.end());
  }
  std::vector<Eigen::Index> parameters_asked;  // their columns
  for (const std::string& name : asked) {
    const std::size_t index = find_name(name, known, "quantity");
    if (std::count(asked.begin(), asked.end(), name) > 1)
      throw InvalidInput(fmt::format("--wrt: '{}' is there twice", name));
    if (index >= parameters.size()) {
      const auto variable = static_cast<int>(index - parameters.size());
      const auto differential = model.differential_variables();
      if (std::find(differential.begin(), differential.end(), variable) == differential.end())
        throw InvalidInput(fmt::format(
            "--wrt {}: the start of an algebraic variable is a guess, nothing depends on it",
            name));
      result.places.push_back(static_cast<Eigen::Index>(result.request.starts.size()));
      result.request.starts.push_back(variable);
      result.names.push_back(name);
      result.columns.push_back(fmt::format("x0{}", variable + 1));
      continue;
    }
    if (!model.equations)
      throw InvalidInput(fmt::format(
          "--wrt {}: a model in the matrix form keeps no parameters; write it as equations", name));
    require_only_in_equations(model, name, model.parameters[index].second, with);
    parameters_asked.push_back(static_cast<Eigen::Index>(result.names.size()));
    result.places.push_back(static_cast<Eigen::Index>(result.request.parameters.size()));
    result.request.parameters.push_back(static_cast<int>(index));
    result.names.push_back(name);
    result.columns.push_back(fmt::format("p{}", parameters_asked.size()));
  }
  for (const Eigen::Index column : parameters_asked)
    result.places[static_cast<std::size_t>(column)] += static_cast<Eigen::Index>(result.request.starts.size());
  return result;
}

void check_sensitivities(const Model& model) { check_located(model); }

namespace {

/// Derivatives in the order in which they were asked for.
class AskedOrder {
 public:
  explicit AskedOrder(const std::vector<Eigen::Index>& places) : places_(places) {}

  [[nodiscard]] bool is_that_of_request() const { return std::ranges::is_sorted(places_); }
  void arrange(Matrix& columns) const {
    if (columns.cols() > 0) columns = Matrix(columns(Eigen::all, places_));
  }
  void arrange(Event& event) const {
    if (event.dt_dq.size() > 0) event.dt_dq = Vector(event.dt_dq(places_));
    for (Matrix& piece : event.pieces) arrange(piece);
  }
  [[nodiscard]] Step arranged(Step step) const {
    arrange(step.dx_dq);
    arrange(step.dlambda_dq);
    return step;
  }

 private:
  const std::vector<Eigen::Index>& places_;
};

Trajectory integrate_request(const Model& model, const SensitivityRequest& request, const IntegrateOptions& options) {
  if (model.hybrid != nullptr) return run_hybrid(model, options, request);
  Located located = located_options(model);
  located.sensitivities = request;
  return integrate(equations_of(model), model.x0(), model.run.span, located, options);
}

}  // namespace

Trajectory integrate_sensitivities(const Model& model, const SensitivityQuantities& quantities,
                                   const IntegrateOptions& options) {
  const AskedOrder order(quantities.places);
  if (order.is_that_of_request()) return integrate_request(model, quantities.request, options);
  IntegrateOptions ordered = options;
  if (options.observer) ordered.observer = [&](const Step& step) { return options.observer(order.arranged(step)); };
  Trajectory run = integrate_request(model, quantities.request, ordered);
  for (Matrix& derivatives : run.dx_dq) order.arrange(derivatives);
  for (Event& event : run.events) order.arrange(event);
  return run;
}

KeptRun keep_sensitivities(const Model& model, const SensitivityQuantities& quantities,
                           const KeepOptions& options) {
  check_sensitivities(model);
  const auto run = [&](const IntegrateOptions& record) {
    IntegrateOptions with_times = record;
    with_times.only_times = !options.times.empty();
    return integrate_sensitivities(model, quantities, with_times);
  };
  return keep_run(model, options, run, quantities.request.columns());
}

}  // namespace perp

#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <perp/analysis/hybrid/run/hybrid_run.hpp>
#include <perp/analysis/sensitivities.hpp>
#include <perp/models/language/hybrid/read_hybrid.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/tests/paths.hpp>

// Derivatives of hybrid runs by starts and parameters, against those computed apart in 40 digits: tests/data/trajectories.
namespace {

using namespace perp;
using nlohmann::json;

std::string text_of(const std::string& file) {
  std::ifstream stream(file);
  REQUIRE(stream);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

using Derivatives = std::map<double, Matrix>;

/// Starts of all differential variables, then the parameters of the reference, by their places in the model.
SensitivityRequest request_of(const Model& model, const std::vector<std::string>& names, std::size_t states) {
  SensitivityRequest request;
  for (std::size_t j = 0; j < states; ++j) request.starts.push_back(static_cast<int>(j));
  for (const std::string& name : names)
    for (std::size_t k = 0; k < model.parameters.size(); ++k)
      if (model.parameters[k].first == name) request.parameters.push_back(static_cast<int>(k));
  return request;
}

IntegrateOptions options_of(const std::vector<double>& times, Derivatives& found) {
  IntegrateOptions options;
  options.times = times;
  options.observer = [&found, times](const Step& step) {
    if (std::binary_search(times.begin(), times.end(), step.t)) found[step.t] = step.dx_dq;
    return true;
  };
  return options;
}

/// By the binaries themselves, whether laws would stand for them or not.
Derivatives of_binaries(const std::string& text, const std::vector<std::string>& names, std::size_t states,
                        const std::vector<double>& times) {
  auto hybrid = std::make_shared<const HybridModel>(
      *read_hybrid_model_text(text, "m.toml", {{"run.scheme", "located"}, {"run.tol", "1e-12"}}));
  Model model = hybrid->head;
  model.hybrid = hybrid;
  model.run.h = (model.run.span.end - model.run.span.start) / 10;
  Derivatives found;
  HybridSchemes schemes;
  schemes.located.tol = 1e-12;
  const IntegrateOptions options = options_of(times, found);
  HybridRun run(model, schemes, options, request_of(model, names, states));
  const Trajectory trajectory = run();
  CHECK((trajectory.status == Status::solved || trajectory.status == Status::no_solution));
  return found;
}

/// As `perp sensitivities` reads it: by laws where there are.
Derivatives as_read(const std::string& text, const std::vector<std::string>& names, std::size_t states,
                    const std::vector<double>& times, bool& has_laws) {
  ReadOptions known;
  known.hybrid = true;
  Model model = read_model_text(text, "m.toml", {{"run.scheme", "located"}, {"run.tol", "1e-12"}}, known);
  model.run.h = (model.run.span.end - model.run.span.start) / 10;
  has_laws = model.hybrid == nullptr;
  SensitivityQuantities quantities;
  quantities.request = request_of(model, names, states);
  Derivatives found;
  integrate_sensitivities(model, quantities, options_of(times, found));
  return found;
}

/// Largest difference, relative to the largest entry of each column over the run.
double difference(const Derivatives& a, const Derivatives& b, Eigen::Index states) {
  REQUIRE(!a.empty());
  Vector size = Vector::Zero(a.begin()->second.cols());
  for (const auto& [t, S] : a) size = size.cwiseMax(S.topRows(states).cwiseAbs().colwise().maxCoeff().transpose());
  double largest = 0;
  for (const auto& [t, S] : a) {
    const auto other = b.find(t);
    REQUIRE(other != b.end());
    for (Eigen::Index j = 0; j < states; ++j)
      for (Eigen::Index k = 0; k < S.cols(); ++k)
        if (const double d = std::abs(S(j, k) - other->second(j, k)); !(d <= 0))
          largest = std::max(largest, std::isnan(d) ? inf : d / size[k]);
  }
  return largest;
}

struct Reference {
  std::vector<std::string> names{};
  std::vector<double> times{};
  std::size_t states = 0;
  Derivatives derivatives{};
};

Reference read_reference(const std::string& name, const std::vector<std::string>& parameters) {
  const json data = json::parse(text_of(test::data_path("/trajectories/") + name + ".json"));
  Reference reference;
  std::vector<std::size_t> columns;
  for (std::size_t k = 0; k < data["parameter_order"].size(); ++k) {
    const std::string parameter = data["parameter_order"][k];
    if (std::find(parameters.begin(), parameters.end(), parameter) == parameters.end()) continue;
    reference.names.push_back(parameter);
    columns.push_back(k);
  }
  for (const json& point : data["sensitivities"]) {
    const json& by_start = point["dx_dx0"];
    const json& by_parameter = point["dx_dp"];
    reference.states = by_start.size();
    Matrix S(by_start.size(), by_start.size() + columns.size());
    for (std::size_t j = 0; j < by_start.size(); ++j) {
      const auto row = static_cast<Eigen::Index>(j);
      for (std::size_t k = 0; k < by_start.size(); ++k)
        S(row, static_cast<Eigen::Index>(k)) = by_start[j][k].get<double>();
      for (std::size_t k = 0; k < columns.size(); ++k)
        S(row, static_cast<Eigen::Index>(by_start.size() + k)) = by_parameter[j][columns[k]].get<double>();
    }
    reference.times.push_back(point["t"]);
    reference.derivatives[point["t"]] = S;
  }
  return reference;
}

TEST_CASE("derivatives of hybrid runs, through sliding, jumps of rates and ends of bands, are those of the references") {
  int lowered = 0;
  for (const std::string name : {"s002_converter", "s002_overflow", "s002_two_heaters", "s002_one_tank_sliding",
                                 "s002_shared_flow_sliding", "s002_three_tank"}) {
    CAPTURE(name);
    const std::string text = text_of(test::data_path("/hybrid_runs/") + name + ".toml");
    std::vector<std::string> parameters;
    const HybridModel model = *read_hybrid_model_text(text, "m.toml");
    for (const auto& parameter : model.head.parameters) parameters.push_back(parameter.first);
    const bool is_apart = name == "s002_three_tank";  // with parameters of the bands
    Reference reference = read_reference(name + (is_apart ? "_sensitivities" : ""), parameters);
    const auto states = static_cast<Eigen::Index>(reference.states);
    bool has_laws = false;
    const Derivatives read = as_read(text, reference.names, reference.states, reference.times, has_laws);
    // A current beside 0 is 0 at once, where the reference keeps it: index 2. At t = 0 it is what is given.
    if (name == "s002_converter") {
      for (auto& [t, S] : reference.derivatives)
        if (t > 0) S.col(0).setZero();
      CHECK(read.at(0).topLeftCorner(2, 2) == Matrix::Identity(2, 2));
    }
    CHECK(difference(reference.derivatives, read, states) <= 1e-7);
    const Derivatives binaries = of_binaries(text, reference.names, reference.states, reference.times);
    CHECK(difference(reference.derivatives, binaries, states) <= 1e-7);
    lowered += has_laws ? 1 : 0;
  }
  CHECK(lowered > 0);
}

}  // namespace

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/schemes/integrate.hpp>
#include <perp/tests/schemes/located/references/reference_cases.hpp>

using nlohmann::json;
using namespace perp;
using perp::test::load_reference;
using perp::test::model_of;
using perp::test::reference_cases;
using perp::test::ReferenceCase;

namespace {

struct Result {
  Model model;
  Trajectory run;
};

Result run(const ReferenceCase& known, const json& reference, Located scheme, const char* points) {
  Result result{model_of(known, reference), {}};
  const Model& model = result.model;
  IntegrateOptions options;
  options.only_times = true;
  for (const json& point : reference[points])
    if (point["t"] >= model.run.span.start) options.times.push_back(point["t"]);
  scheme.restitution = model.restitution;
  scheme.scale = Vector(model.x0().size());
  for (Eigen::Index j = 0; j < scheme.scale.size(); ++j)
    scheme.scale[j] = model.variables[static_cast<std::size_t>(j)].nominal;
  const Dcs system = model.equations ? *model.equations : as_dcs(model.lcs());
  result.run = integrate(system, model.x0(), model.run.span, scheme, options);
  return result;
}

/// Index of the last state at a time.
std::size_t row_at(const Trajectory& run, double t) {
  for (std::size_t k = run.size(); k-- > 0;)
    if (run.t[k] == t) return k;
  FAIL("no state at t = ", t, ": ", run.message);
  return 0;
}

double deviation(double found, double wanted) {
  return std::abs(found - wanted) / std::max(1.0, std::abs(wanted));
}

std::vector<Event> without_kinks(std::vector<Event> events) {
  std::erase_if(events, [](const Event& event) {
    return event.kind == EventKind::kink || event.kind == EventKind::no_solution ||
           event.kind == EventKind::accumulation;
  });
  return events;
}

void compare_events(const std::vector<Event>& found, const json& reference, bool all) {
  std::vector<std::pair<std::string, double>> wanted;
  for (const json& event : reference["events"])
    if (event["type"] != "kink" && event["type"] != "no_solution" && event["type"] != "zeno")
      wanted.emplace_back(event["type"], event["t"]);
  if (all) REQUIRE(found.size() == wanted.size());
  REQUIRE(found.size() >= wanted.size());
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    CHECK(to_string(found[k].kind) == wanted[k].first);
    CHECK(deviation(found[k].t, wanted[k].second) < 1e-12);
  }
}

}  // namespace

TEST_SUITE("schemes/located/references") {
  TEST_CASE("every reference trajectory is met to eleven digits, its events to twelve") {
    for (const ReferenceCase& known : reference_cases) {
      CAPTURE(std::string(known.reference));
      const json reference = load_reference(known.reference);
      const auto [model, trajectory] = run(known, reference, {.tol = 1e-11}, "checkpoints");
      const bool ends =
          std::any_of(reference["events"].begin(), reference["events"].end(),
                      [](const json& event) { return event["type"] == "no_solution"; });
      CHECK((trajectory.status == Status::solved) !=
            (ends && trajectory.t.back() < model.run.span.end));
      for (const json& point : reference["checkpoints"]) {
        const std::size_t row = row_at(trajectory, point["t"]);
        for (std::size_t j = 0; j < point["x"].size(); ++j)
          CHECK(deviation(trajectory.x[row][static_cast<Eigen::Index>(j)], point["x"][j]) < 1e-11);
        if (!point.contains("extra")) continue;
        const Vector outputs =
            model.outputs.at(trajectory.t[row], trajectory.x[row], trajectory.lambda[row]);
        for (const auto& [name, value] : point["extra"].items()) {
          for (std::size_t j = 0; j < model.variables.size(); ++j)
            if (model.variables[j].name == name)
              CHECK(deviation(trajectory.x[row][static_cast<Eigen::Index>(j)], value) < 1e-9);
          for (std::size_t k = 0; k < model.outputs.names.size(); ++k)
            if (model.outputs.names[k] == name)
              CHECK(deviation(outputs[static_cast<Eigen::Index>(k)], value) < 1e-9);
        }
      }
      compare_events(without_kinks(trajectory.events), reference, known.all_events);
    }
  }

  TEST_CASE("sensitivities agree with the references to nine digits of their column's size") {
    for (const ReferenceCase& known : reference_cases) {
      const json reference = load_reference(known.reference);
      if (!reference.contains("sensitivities") || reference["sensitivities"].empty()) continue;
      CAPTURE(std::string(known.reference));
      const Model model = model_of(known, reference);
      Located scheme{.tol = 1e-12};
      const std::size_t n = reference["x0"].size(), p = reference["parameter_order"].size();
      for (std::size_t j = 0; j < n; ++j)
        scheme.sensitivities.starts.push_back(static_cast<int>(j));
      for (const json& name : reference["parameter_order"]) {
        const auto place = std::find_if(
            model.parameters.begin(), model.parameters.end(),
            [&](const auto& parameter) { return parameter.first == name.get<std::string>(); });
        REQUIRE(place != model.parameters.end());
        scheme.sensitivities.parameters.push_back(
            static_cast<int>(place - model.parameters.begin()));
      }
      const Trajectory trajectory = run(known, reference, scheme, "sensitivities").run;
      for (const json& point : reference["sensitivities"]) {
        const Matrix& found = trajectory.dx_dq[row_at(trajectory, point["t"])];
        for (std::size_t k = 0; k < n + p; ++k) {
          double size = 0, error = 0;
          for (std::size_t j = 0; j < n; ++j) {
            const double wanted = k < n ? point["dx_dx0"][j][k] : point["dx_dp"][j][k - n];
            const double value = found(static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(k));
            size = std::max(size, std::abs(wanted));
            error = std::max(error, std::abs(value - wanted));
          }
          CHECK(error <= 1e-9 * size + 1e-11);
        }
      }
      const std::vector<Event> events = without_kinks(trajectory.events);
      for (std::size_t k = 0, e = 0; k < reference["events"].size(); ++k) {
        const json& event = reference["events"][k];
        if (event["type"] == "kink") continue;
        const Event& found = events[e++];
        if (!event.contains("dt_dx0")) continue;
        for (std::size_t j = 0; j < n + p; ++j) {
          const double wanted = j < n ? event["dt_dx0"][j] : event["dt_dp"][j - n];
          CHECK(deviation(found.dt_dq[static_cast<Eigen::Index>(j)], wanted) < 1e-8);
        }
      }
    }
  }
}

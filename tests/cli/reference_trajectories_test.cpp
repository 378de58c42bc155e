#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include <perp/models/language/run_options.hpp>
#include <perp/tests/cli/program.hpp>
#include <perp/tests/paths.hpp>
#include <perp/tests/thinned.hpp>

using nlohmann::json;
using perp::test::Csv;
using perp::test::Folder;
using perp::test::Outcome;
using perp::test::parse_csv;
using perp::test::perp_program;
using perp::test::read_text;

namespace {

/// A trajectory known to many digits and the model of the zoo that must converge to it.
struct Case {
  const char* reference;
  bool exact = false;        ///< errors are rounding: no order to observe
  double steps = 2500;       ///< of the coarsest of five runs; the finest three count
  bool accumulates = false;  ///< only the first events are listed
};

json load(const Case& known) {
  return json::parse(
      read_text(perp::test::data_path("/trajectories/") + known.reference + ".json"));
}

/// Which model of the zoo a reference belongs to, and with which overrides.
json model_of(const Case& known) {
  static const json models = json::parse(read_text(perp::test::data_path("/reference_models.json")));
  return models.at(known.reference);
}

struct Happening {
  double t;
  std::string type;
};

struct Result {
  double error = 0;               ///< mean over the checkpoints, relative to max(1, |x|)
  std::vector<Happening> events;  ///< without kinks
};

/// Runs the program with a given number of steps and compares with every checkpoint.
Result run(const Folder& folder, const Case& known, const json& reference, double steps,
           const std::string& selector = "keep_mode") {
  const json model = model_of(known);
  std::string times;
  for (const json& point : reference["checkpoints"])
    times += fmt::format("{}{:.17g}", times.empty() ? "" : ",", point["t"].get<double>());
  const json& happenings = reference["events"];
  const bool ends = !happenings.empty() && happenings.back()["type"] == "no_solution";
  const double start = reference["t_span"][0];
  const double end = reference["t_span"][1].get<double>() + (ends ? 1 : 0);
  std::vector<std::string> arguments{"run",
                                     model["model"].get<std::string>(),
                                     "--quiet",
                                     "--times",
                                     times,
                                     "--t",
                                     fmt::format("{:.17g},{:.17g}", start, end),
                                     "--h",
                                     fmt::format("{:.17g}", (end - start) / steps),
                                     "-o",
                                     "out.csv",
                                     "--events",
                                     "events.csv"};
  // Velocity stepping has no selector.
  const std::string file = perp::find_model(model["model"].get<std::string>());
  if (perp::reads(perp::read_model(file).run.scheme, "selector"))
    arguments.insert(arguments.end(), {"--selector", selector});
  for (std::size_t j = 0; j < reference["x0"].size(); ++j) {
    arguments.emplace_back("--set");
    arguments.push_back(fmt::format("x{}={:.17g}", j + 1, reference["x0"][j].get<double>()));
  }
  for (const json& item : model["set"]) {
    arguments.emplace_back("--set");
    arguments.push_back(item.get<std::string>());
  }
  const Outcome outcome = perp_program(folder, arguments);
  CAPTURE(outcome.err);
  REQUIRE(outcome.status == (ends ? 3 : 0));
  const Csv csv = parse_csv(read_text(folder / "out.csv"));
  const json& points = reference["checkpoints"];
  REQUIRE(csv.rows.size() == points.size());
  Result result;
  int compared = 0;
  const auto compare = [&](std::size_t row, const std::string& column, double wanted) {
    const double found = csv.number(row, column);
    result.error += std::abs(found - wanted) / std::max(1.0, std::abs(wanted));
    ++compared;
  };
  for (std::size_t k = 0; k < points.size(); ++k) {
    for (std::size_t j = 0; j < points[k]["x"].size(); ++j)
      compare(k, fmt::format("x{}", j + 1), points[k]["x"][j]);
    if (!points[k].contains("extra")) continue;
    for (const auto& [name, value] : points[k]["extra"].items())
      if (std::find(csv.header.begin(), csv.header.end(), name) != csv.header.end() &&
          value.is_number())
        compare(k, name, value);
  }
  result.error /= compared;
  const Csv events = parse_csv(read_text(folder / "events.csv"));
  for (std::size_t k = 0; k < events.rows.size(); ++k) {
    const std::string& type = events.rows[k][events.column("type")];
    if (type != "kink" && type != "zeno") result.events.push_back({events.number(k, "t"), type});
  }
  return result;
}

/// Mean error of the times of the events, which must be those of the reference.
double error_of_events(const Case& known, const json& reference, const Result& result) {
  std::vector<Happening> wanted;
  for (const json& event : reference["events"])
    if (event["type"] != "kink" && event["type"] != "zeno")
      wanted.push_back({event["t"], event["type"]});
  if (known.accumulates)
    REQUIRE(result.events.size() > wanted.size());
  else
    REQUIRE(result.events.size() == wanted.size());
  double error = 0;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    CHECK(result.events[k].type == wanted[k].type);
    error += std::abs(result.events[k].t - wanted[k].t);
  }
  return error / std::max(1.0, static_cast<double>(wanted.size()));
}

const std::vector<Case> cases{
    {"s000_canonical", false, 8000},
    {"s000_filippov_prototype", true},
    {"s000_filippov_prototype_below", true},
    {"s000_predator_prey", false, 40000},
    {"s000_predator_prey_shilnikov", false, 16000},
    {"s000_stick_slip"},
    {"s000_stick_slip_ifdiff"},
    {"s000_bouncing_ball", false, 8000},
    {"s000_bouncing_ball_zeno", false, 50000, true},
    {"s001_ex1_relay"},
    {"s001_ex1_dead_zone"},
    {"s001_ex2_tacoma"},
    {"s001_ex3_water_level"},
    {"s001_ex4_dry_friction"},
    {"s001_ex5_hysteresis_mid"},
    {"s001_ex5_hysteresis_v1"},
    {"s001_ex5_hysteresis_v2"},
    {"s001_ex5_hysteresis_v3"},
    {"s001_ex5_hysteresis_v4"},
    {"s001_ex6_sofc_standin"},
    {"s003_sliding_crossing", true, 100},
    {"s003_sliding_repulsive", true, 100},
    {"s003_variant37"},
    {"s003_jump_B_1_2", true, 100},
    {"s003_jump_B_1_2_b", true, 100},
    {"s003_jump_B_1_2_from_Aplus", true, 100},
    {"s003_nosolution_B_2_1", true, 100},
    {"s003_nosolution_B_2_1_b", true, 100},
    {"s003_nosolution_B_0.5_0.25", true, 100},
    {"s003_B1_zero", true, 100},
    {"s003_B1_plus_B2_zero", true, 100},
    {"s003_B1_equals_B2", true, 100},
    {"s004_ex31_above_T1"},
    {"s004_ex31_cross"},
    {"s004_ex31_slide_down"},
    {"s004_ex31_slide_exit"},
    {"s004_soft_drink_filippov"},
    {"s004_soft_drink_paired"},
};

/// Slope of log(error) over log(1/steps), by least squares.
double slope(const std::vector<double>& steps, const std::vector<double>& errors) {
  double x = 0, y = 0, xx = 0, xy = 0;
  for (std::size_t k = 0; k < steps.size(); ++k) {
    x += std::log(steps[k]);
    y += std::log(errors[k]);
    xx += std::log(steps[k]) * std::log(steps[k]);
    xy += std::log(steps[k]) * std::log(errors[k]);
  }
  const auto n = static_cast<double>(steps.size());
  return -(n * xy - x * y) / (n * xx - x * x);
}

/// Nonlinear steps that end on a surface are not split yet: the errors of these scatter more.
bool scatters(const std::string& reference) {
  return reference == "s001_ex3_water_level" || reference == "s001_ex1_dead_zone";
}

void check_order(const std::vector<double>& steps, const std::vector<double>& errors, bool exact,
                 double most = 1.1) {
  if (exact) {
    CHECK(errors.back() < 1e-10);
  } else {
    const double order = slope(steps, errors);
    CHECK(order > 0.9);
    CHECK(order < most);
  }
}

}  // namespace

TEST_SUITE("cli/reference_trajectories") {
  TEST_CASE("models as equations converge with order one, through the same events") {
    for (const Case& known : perp::test::thinned(cases, 5)) {
      CAPTURE(std::string(known.reference));
      const Folder folder;
      const json reference = load(known);
      std::vector<double> steps, errors, event_errors;
      for (int k = 2; k < 5; ++k) {
        steps.push_back(std::ldexp(known.steps, k));
        const Result result = run(folder, known, reference, steps.back());
        errors.push_back(result.error);
        event_errors.push_back(error_of_events(known, reference, result));
      }
      check_order(steps, errors, known.exact, scatters(known.reference) ? 1.2 : 1.1);
      check_order(steps, event_errors, known.exact || event_errors.back() == 0);
    }
  }

  TEST_CASE("where steps are fine the selectors keep_mode and continuation make the same run") {
    constexpr double steps = 4000;
    for (const Case& known : perp::test::thinned(cases, 5)) {
      CAPTURE(std::string(known.reference));
      const Folder folder;
      const json reference = load(known);
      const Result keep = run(folder, known, reference, steps);
      const Result path = run(folder, known, reference, steps, "continuation");
      REQUIRE(path.events.size() == keep.events.size());
      for (std::size_t k = 0; k < path.events.size(); ++k)
        CHECK(path.events[k].type == keep.events[k].type);
      CHECK(path.error < 1.1 * keep.error + 1e-10);
      CHECK(path.error > (scatters(known.reference) ? 0.7 : 0.9) * keep.error - 1e-10);
    }
  }
}

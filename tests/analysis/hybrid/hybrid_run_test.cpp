#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include <perp/analysis/hybrid/run/hybrid_run.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/core/base/error.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/tests/paths.hpp>

// Trajectories that were computed apart from this program in 40 digits: tests/data/trajectories.
namespace {

using nlohmann::json;
using perp::Event;
using perp::EventKind;
using perp::Model;
using perp::Status;
using perp::Trajectory;

std::string read_text(const std::filesystem::path& file) {
  std::ifstream stream(file);
  REQUIRE(stream);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

Model read(const std::string& text, const std::vector<perp::Override>& set = {}) {
  perp::ReadOptions known;
  known.hybrid = true;
  Model model = perp::read_model_text(text, "m.toml", set, known);
  if (model.run.h == 0) model.run.h = (model.run.span.end - model.run.span.start) / 1000;
  return model;
}

Model read_reference(const std::string& name, const std::vector<perp::Override>& set) {
  return read(read_text(perp::test::data_path("/hybrid_runs/") + name + ".toml"), set);
}

Trajectory run(const Model& model, std::vector<double> times = {}) {
  perp::IntegrateOptions options;
  options.times = std::move(times);
  return perp::scheme(model.run.scheme).run(model, options);
}

bool is_of_mode(EventKind kind) {
  return kind == EventKind::mode_change || kind == EventKind::sliding_entry ||
         kind == EventKind::sliding_exit;
}

std::vector<const Event*> mode_events(const Trajectory& trajectory) {
  std::vector<const Event*> list;
  for (const Event& event : trajectory.events)
    if (is_of_mode(event.kind)) list.push_back(&event);
  return list;
}

std::vector<double> times_of(const json& reference) {
  std::vector<double> times;
  for (const json& point : reference["checkpoints"]) times.push_back(point["t"]);
  return times;
}

/// The row at the time of a checkpoint.
std::size_t row_at(const Trajectory& trajectory, double t) {
  const auto behind = std::upper_bound(trajectory.t.begin(), trajectory.t.end(), t);
  REQUIRE(behind != trajectory.t.begin());
  const auto k = static_cast<std::size_t>(behind - trajectory.t.begin() - 1);
  REQUIRE(trajectory.t[k] == t);
  return k;
}

/// Relative to max(1, |x|), as in the reference's own comparison.
double error_of(double value, double exact) {
  return std::abs(value - exact) / std::max(1.0, std::abs(exact));
}

/// Error of the states at each checkpoint, of two rows at its moment the last one.
std::vector<double> errors_of_states(const Trajectory& trajectory, const json& reference) {
  std::vector<double> errors;
  for (const json& point : reference["checkpoints"]) {
    const std::size_t k = row_at(trajectory, point["t"]);
    double largest = 0;
    for (std::size_t j = 0; j < point["x"].size(); ++j)
      largest =
          std::max(largest, error_of(trajectory.x[k][static_cast<Eigen::Index>(j)], point["x"][j]));
    errors.push_back(largest);
  }
  return errors;
}

/// Largest of them.
double error_of_states(const Trajectory& trajectory, const json& reference) {
  return std::ranges::max(errors_of_states(trajectory, reference));
}

/// The same, and of the binaries that are named there besides.
double error_at_checkpoints(const Model& model, const Trajectory& trajectory,
                            const json& reference) {
  double largest = error_of_states(trajectory, reference);
  for (const json& point : reference["checkpoints"]) {
    if (!point.contains("extra")) continue;
    const std::size_t k = row_at(trajectory, point["t"]);
    for (std::size_t i = 0; i < model.binaries.size(); ++i)
      if (const std::string& name = model.multipliers[i]; point["extra"].contains(name))
        largest = std::max(largest, error_of(trajectory.lambda[k][static_cast<Eigen::Index>(i)],
                                             point["extra"][name]));
  }
  return largest;
}

void check_events(const Trajectory& trajectory, const json& reference, double tolerance) {
  std::vector<json> wanted;
  for (const json& event : reference["events"])
    if (event["type"] != "no_solution") wanted.push_back(event);
  const std::vector<const Event*> found = mode_events(trajectory);
  REQUIRE(found.size() == wanted.size());
  for (std::size_t k = 0; k < found.size(); ++k) {
    CHECK(std::string(perp::to_string(found[k]->kind)) == wanted[k]["type"].get<std::string>());
    CHECK(std::abs(found[k]->t - wanted[k]["t"].get<double>()) <= tolerance);
  }
}

const std::vector<std::string>& references() {
  static const std::vector<std::string> names{
      "s002_three_tank",         "s002_three_tank_32", "s002_three_tank_open",
      "s002_three_tank_weak",    "s002_two_heaters",   "s002_converter",
      "s002_overflow",           "s002_dead_end",      "s002_one_tank",
      "s002_one_tank_sliding",   "s002_tanks_10",      "s002_rooms_10",
      "s002_shared_flow_sliding"};
  return names;
}

TEST_CASE("located runs of hybrid models are the reference trajectories of their rule") {
  for (const std::string& name : references()) {
    CAPTURE(name);
    const json reference =
        json::parse(read_text(perp::test::data_path("/trajectories/") + name + ".json"));
    const Model model = read_reference(name, {{"run.scheme", "located"}, {"run.tol", "1e-12"}});
    const Trajectory trajectory = run(model, times_of(reference));
    const json& last = reference["events"].back();
    const bool ends = last["type"] == "no_solution";
    CHECK(trajectory.status == (ends ? Status::no_solution : Status::solved));
    if (ends) CHECK(std::abs(trajectory.events.back().t - last["t"].get<double>()) <= 1e-9);
    check_events(trajectory, reference, name == "s002_one_tank" ? 1e-7 : 1e-9);
    CHECK(error_at_checkpoints(model, trajectory, reference) <=
          (name == "s002_one_tank" ? 1e-8 : 1e-9));
  }
}

/// Changes of one binary: when, and to which value.
struct Changes {
  std::vector<double> times;
  std::vector<double> values;
};

/// 0, 1, or between them: it slides.
double value_of(double lambda) { return lambda < 1e-9 ? 0 : lambda > 1 - 1e-9 ? 1 : 0.5; }

/// Of the binaries of a run, told from its rows: the column of each, where it changes.
std::map<std::string, Changes> changes_of(const Model& model, const Trajectory& trajectory) {
  std::map<std::string, Changes> all;
  for (std::size_t k = 1; k < trajectory.t.size(); ++k)
    for (std::size_t i = 0; i < model.binaries.size(); ++i) {
      const auto law = static_cast<std::size_t>(model.binaries[i]);
      const double before = value_of(trajectory.lambda[k - 1][model.binaries[i]]),
                   now = value_of(trajectory.lambda[k][model.binaries[i]]);
      if (before == now) continue;
      all[model.multipliers[law]].times.push_back(trajectory.t[k - 1]);
      all[model.multipliers[law]].values.push_back(now);
    }
  return all;
}

/// Of checkpoints that no change stands near by, up to `late`: a state there is behind as many changes in both runs.
double largest_away_from(const std::map<std::string, Changes>& all, double late, const std::vector<double>& times,
                         const std::vector<double>& errors) {
  double largest = 0;
  for (std::size_t k = 0; k < times.size(); ++k) {
    const bool is_near = std::ranges::any_of(all, [&](const auto& of_one) {
      return std::ranges::any_of(of_one.second.times, [&](double t) { return std::abs(t - times[k]) <= late; });
    });
    if (!is_near) largest = std::max(largest, errors[k]);
  }
  return largest;
}

TEST_CASE("event capturing of hybrid models is of first order with the changes of every binary") {
  // A step is split where a mode ends, so that the error is that of the implicit Euler steps alone:
  // the changes of every binary are those of the reference, in order and number, but for what this
  // error carries over the end of the span.
  for (const std::string& name : references()) {
    if (name == "s002_one_tank") continue;  // its 61 events drift with h
    CAPTURE(name);
    const json reference =
        json::parse(read_text(perp::test::data_path("/trajectories/") + name + ".json"));
    const double span = reference["t_span"][1];
    const Model exact = read_reference(name, {{"run.scheme", "located"}, {"run.tol", "1e-12"}});
    const std::map<std::string, Changes> wanted = changes_of(exact, run(exact));
    std::vector<std::vector<double>> errors;
    double latest = 0;  // of all changes
    for (const double steps : {2000.0, 4000.0, 16000.0, 32000.0}) {
      CAPTURE(steps);
      const Model model = read_reference(name, {{"run.h", std::to_string(span / steps)}});
      const Trajectory trajectory = run(model, times_of(reference));
      const bool ends = reference["events"].back()["type"] == "no_solution";
      CHECK(trajectory.status == (ends ? Status::no_solution : Status::solved));
      std::map<std::string, Changes> found = changes_of(model, trajectory);
      CHECK(found.size() == wanted.size());
      for (const auto& [binary, exact_changes] : wanted) {
        const auto& shown_binary = binary;
        CAPTURE(shown_binary);
        const Changes& changes = found[binary];
        const auto& values = exact_changes.values;
        const bool slides =
            std::find(values.begin(), values.end(), 0.5) != values.end();  // told by rows
        const double late = 12 * span / steps + (slides ? exact.run.h : 0);
        REQUIRE(changes.times.size() <= exact_changes.times.size());
        for (std::size_t k = 0; k < exact_changes.times.size(); ++k) {
          if (k >= changes.times.size()) {
            CHECK(exact_changes.times[k] + late >= span);
            continue;
          }
          CHECK(changes.values[k] == values[k]);
          CHECK(std::abs(changes.times[k] - exact_changes.times[k]) <= late);
          latest = std::max(latest, std::abs(changes.times[k] - exact_changes.times[k]));
        }
      }
      if (steps >= 16000) check_events(trajectory, reference, 1e-2 * span);
      errors.push_back(errors_of_states(trajectory, reference));
    }
    // A checkpoint that a change passes as h becomes smaller has errors on its two sides that do not compare.
    const auto error = [&](const std::vector<double>& of_steps) {
      return largest_away_from(wanted, latest, times_of(reference), of_steps);
    };
    REQUIRE(error(errors.back()) > 0);
    const double order = std::log2(error(errors.front()) / error(errors.back())) / std::log2(16.0);
    CHECK(order >= 0.9);
    CHECK(order <= 1.1);
  }
}

TEST_CASE("a tank behind a filter has all its changes by backward Euler from h = 2e-3 on, and is of first order") {
  const json reference = json::parse(read_text(perp::test::data_path("/trajectories/s002_one_tank.json")));
  std::vector<double> errors;
  for (const double h : {2e-3, 2.5e-4}) {
    CAPTURE(h);
    const Trajectory trajectory =
        run(read_reference("s002_one_tank", {{"run.h", std::to_string(h)}}), times_of(reference));
    check_events(trajectory, reference, 650 * h);  // of 61, over 300 s
    errors.push_back(error_of_states(trajectory, reference));
  }
  const double order = std::log2(errors.front() / errors.back()) / std::log2(8.0);
  CHECK(order >= 0.9);
  CHECK(order <= 1.1);
}

const std::string bound = R"(
[variables]
x = 0
[model]
equations = ["der(x) = 1"]
constraints = [{ name = "full", g = "x <= 1" }]
[run]
t = [0, 2]
)";

TEST_CASE("a constraint without binaries ends every scheme where it is violated") {
  for (const std::string scheme : {"backward_euler", "theta", "located"}) {
    CAPTURE(scheme);
    const Model model = read(bound, {{"run.scheme", scheme}});
    CHECK(model.hybrid == nullptr);
    const Trajectory trajectory = run(model);
    CHECK(trajectory.status == Status::no_solution);
    REQUIRE(!trajectory.events.empty());
    CHECK(trajectory.events.back().kind == EventKind::no_solution);
    CHECK(trajectory.events.back().t == doctest::Approx(1).epsilon(1e-9));
    CHECK(trajectory.x.back()[0] == doctest::Approx(1).epsilon(1e-9));
  }
}

/// Two heaters in one sub-problem, told with names, orders and units of their own.
std::string two_heaters(const std::string& unit, const std::string& nominal, bool reversed) {
  const std::string rows[2] = {"(20*" + unit + " - T)*(1 - a)*(1 - b) <= 0",
                               "3*(T - 22*" + unit + ")*(1 - (1 - a)*(1 - b)) <= 0"};
  return "[variables]\nT = { start = \"21*" + unit + "\", nominal = " + nominal +
         " }\n[binaries]\na = 0\nb = 0\n[model]\nequations = [\"der(T) = -0.1*T + " + unit +
         "*(5*a + 3*b)\"]\nconstraints = [\"" + rows[reversed ? 1 : 0] + "\", \"" +
         rows[reversed ? 0 : 1] + "\"]\n[run]\nt = [0, 10]\n";
}

TEST_CASE("units by powers of two and the order of rows do not change the course") {
  for (const std::string scheme : {"backward_euler", "located"}) {
    CAPTURE(scheme);
    const std::vector<perp::Override> set{{"run.scheme", scheme}};
    const Trajectory plain = run(read(two_heaters("1", "16", false), set));
    const Trajectory scaled = run(read(two_heaters("1048576", "16777216", false), set));
    const Trajectory other = run(read(two_heaters("1", "16", true), set));
    const auto events = mode_events(plain), after = mode_events(scaled),
               turned = mode_events(other);
    REQUIRE(events.size() > 4);
    REQUIRE(events.size() == after.size());
    REQUIRE(events.size() == turned.size());
    for (std::size_t k = 0; k < events.size(); ++k) {
      CHECK(events[k]->t == after[k]->t);
      CHECK(events[k]->t == doctest::Approx(turned[k]->t).epsilon(1e-12));
      CHECK(events[k]->law == turned[k]->law);
      CHECK(events[k]->to == turned[k]->to);
    }
    CHECK(scaled.x.back()[0] == 1048576 * plain.x.back()[0]);
  }
}

TEST_CASE("a mode whose constraint is only touched goes on in every scheme") {
  // x = 1 - (t - 1)^2 touches x <= 1 at t = 1; z1 and z2 share a sub-problem and keep their values.
  const std::string text =
      "[variables]\nx = 0\nv = 2\n[binaries]\na = 0\nb = 0\n[model]\nequations = [\"der(x) = v\", "
      "\"der(v) = -2 + a\"]\nconstraints = [\"(x - 1)*(1 - a)*(1 - b) <= 0\", \"(x - 9)*(1 - (1 - "
      "a)*(1 - b)) <= 0\"]\n[run]\nt = [0, 1.5]\nh = 0.01\n";
  for (const std::string scheme : {"backward_euler", "located"}) {
    CAPTURE(scheme);
    const Trajectory trajectory = run(read(text, {{"run.scheme", scheme}}));
    CHECK(trajectory.status == Status::solved);
    CHECK(mode_events(trajectory).empty());
  }
}

TEST_CASE("a sliding binary that reaches the end of its range leaves its surface in every scheme") {
  // On x = 0 the binary is a = (2 - 0.945 cos(w t))/2, which is 1 first where w t = 5 pi/2; b and c stay.
  const std::string text =
      "[variables]\nx = -1\n[inputs]\nu = \"1.05*cos(4.634*t)\"\n[binaries]\na = 0\nb = 1\nc = 0\n[model]\n"
      "equations = [\"der(x) = -0.9*u - 2*a + 2*b\"]\nconstraints = [\"x*(1 - 2*a) <= 0\", "
      "\"0.365*(1 - b + c) <= 0\", \"0*(1 - c + b) <= 0\"]\n[run]\nt = [0, 3]\nh = 0.001\n";
  const double end = 5 * std::acos(-1.0) / 2 / 4.634;
  for (const std::string scheme : {"backward_euler", "located"}) {
    CAPTURE(scheme);
    const Trajectory trajectory = run(read(text, {{"run.scheme", scheme}}));
    CHECK(trajectory.status == Status::solved);
    const auto events = mode_events(trajectory);
    const auto exit = std::find_if(events.begin(), events.end(),
                                   [](const Event* e) { return e->kind == EventKind::sliding_exit; });
    REQUIRE(exit != events.end());
    CHECK((*exit)->t == doctest::Approx(end).epsilon(1e-9));
    CHECK((*exit)->to == 1);
  }
}

TEST_CASE("changes that crowd towards a moment are passed in every scheme") {
  // a = 1 lifts x to -0.28, a = 0 drops it to a bound that rises to there at t*: the switchings
  // between them accumulate at t*, and behind it b = 1 alone continues, which costs more rate until
  // then.
  const std::string text =
      "[variables]\nx = { start = -0.2, nominal = 1 }\ny = { start = -1, nominal = 1 }\n[inputs]\n"
      "u = \"-0.856 - 1.374*sin(1.98*t)\"\n[binaries]\na = 0\nb = 0\n[model]\nequations = "
      "[\"der(x) = 3*a - 0.863\", "
      "\"der(y) = 1.5 + b\"]\nconstraints = [\"(-x - 0.605 - 0.2*u)*(1 - a)*(1 - b) <= 0\", \"(x + "
      "0.28)*a + 0*(1 - a)*b <= 0\"]\n"
      "[run]\nt = [0, 2]\nh = 0.002\n";
  const double end = std::asin((1.625 - 0.856) / 1.374) / 1.98;  // -0.605 - 0.2 u = -0.28
  for (const std::string scheme : {"backward_euler", "located"}) {
    CAPTURE(scheme);
    const Trajectory trajectory = run(read(text, {{"run.scheme", scheme}}));
    CHECK(trajectory.status == Status::solved);
    const auto events = mode_events(trajectory);
    REQUIRE(events.size() > 20);
    CHECK(events.back()->t == doctest::Approx(end).epsilon(1e-8));
    CHECK(trajectory.lambda.back()[0] == 0);
    CHECK(trajectory.lambda.back()[1] == 1);
    CHECK(trajectory.x.back()[0] == doctest::Approx(-0.28 - 0.863 * (2 - end)).epsilon(1e-8));
  }
}

TEST_CASE("questions about laws refuse models whose binaries have none") {
  perp::ReadOptions known;
  CHECK_THROWS_AS(perp::read_model_text(two_heaters("1", "16", false), "m.toml", {}, known),
                  perp::ModelError);
  const Model model = read(two_heaters("1", "16", false));
  REQUIRE(model.hybrid != nullptr);
  CHECK_THROWS_AS(perp::capturing_scheme(model), perp::InvalidInput);
}

}  // namespace

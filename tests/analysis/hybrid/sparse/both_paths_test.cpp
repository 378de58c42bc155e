#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <perp/analysis/hybrid/run/hybrid_run.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/tests/paths.hpp>

// The same model by the steps of small models, which end where a constraint is 0, and by whole
// steps, which models with more unknowns take: idle states beside it make it large and change
// nothing.
namespace both_paths {
namespace {

using perp::Event;
using perp::EventKind;
using perp::Model;
using perp::Status;
using perp::Trajectory;

constexpr int idle_states = 65;

std::string with_idle_states(std::string text) {
  std::string variables = "[variables]\n", equations = "equations = [\n";
  for (int k = 0; k < idle_states; ++k) {
    variables += "idle" + std::to_string(k) + " = 1\n";
    equations += "\"der(idle" + std::to_string(k) + ") = 0\",\n";
  }
  const auto replace = [&text](const std::string& word, const std::string& by) {
    const auto place = text.find(word);
    REQUIRE(place != std::string::npos);
    text.replace(place, word.size(), by);
  };
  replace("[variables]\n", variables);
  replace("equations = [", equations);
  return text;
}

std::string reference(const std::string& name) {
  std::ifstream stream(perp::test::data_path("/hybrid_runs/") + name + ".toml");
  REQUIRE(stream);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

struct Run {
  Model model;
  Trajectory trajectory;
};

/// With its binaries, not with laws.
Run run(const std::string& text, double end, double steps) {
  perp::ReadOptions known;
  known.hybrid = true;
  Run result{perp::read_model_text(text, "m.toml", {{"run.scheme", "located"}}, known), {}};
  Model& model = result.model;
  REQUIRE(model.hybrid != nullptr);
  model.run.scheme = "backward_euler";
  model.run.span.end = end;
  model.run.h = (end - model.run.span.start) / steps;
  perp::HybridSchemes schemes;
  schemes.steps.theta = 1;
  perp::IntegrateOptions options;
  options.only_times = true;
  result.trajectory = perp::HybridRun(model, schemes, options)();
  return result;
}

struct Change {
  std::string binary;
  int to;
  double t;
};

std::vector<Change> changes(const Run& run) {
  std::vector<Change> list;
  for (const Event& event : run.trajectory.events)
    if (event.kind == EventKind::mode_change)
      list.push_back(
          {run.model.multipliers[static_cast<std::size_t>(event.law)], event.to, event.t});
  return list;
}

struct Difference {
  std::size_t changes = 0;
  double in_time = 0, in_state = 0;
};

/// Both ways have the same changes in the same order; how far apart they are.
Difference difference(const std::string& text, double end, double steps) {
  const Run small = run(text, end, steps), large = run(with_idle_states(text), end, steps);
  REQUIRE(small.trajectory.status == Status::solved);
  REQUIRE(large.trajectory.status == Status::solved);
  CHECK_FALSE(small.model.hybrid->takes_whole_steps());
  CHECK(large.model.hybrid->takes_whole_steps());
  const std::vector<Change> a = changes(small), b = changes(large);
  REQUIRE(a.size() == b.size());
  Difference found;
  found.changes = a.size();
  for (std::size_t k = 0; k < a.size(); ++k) {
    CAPTURE(k);
    CHECK(a[k].binary == b[k].binary);
    CHECK(a[k].to == b[k].to);
    found.in_time = std::max(found.in_time, std::abs(a[k].t - b[k].t));
  }
  const perp::Vector& x = small.trajectory.x.back();
  found.in_state = (x - large.trajectory.x.back().tail(x.size())).cwiseAbs().maxCoeff();
  return found;
}

TEST_CASE("rooms change at the same moments in whole steps as in steps that end there") {
  const Difference found = difference(reference("s002_rooms_10"), 5, 2000);
  CHECK(found.changes == 87);
  CHECK(found.in_time <= 0.05 * 5 / 2000);  // the steps themselves lead 1.8 h astray
  CHECK(found.in_state <= 5e-4);
}

TEST_CASE("both ways through a step differ by the square of its length") {
  for (const std::string name : {"s002_tanks_10", "s002_three_tank"}) {
    CAPTURE(name);
    const std::string text = reference(name);
    const double end = name == "s002_tanks_10" ? 60 : 400;
    const Difference coarse = difference(text, end, 500), fine = difference(text, end, 8000);
    CHECK(coarse.changes > 10);
    CHECK(coarse.in_time <= 0.2 * end / 500);
    // 16² but for where in their steps the events lie
    CHECK(fine.in_time <= coarse.in_time / 50);
    CHECK(fine.in_state <= coarse.in_state / 50);
  }
}

/// States on one supply, each with a band of its own; every third with two binaries for it.
std::string random_supply(unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> share(0, 1);
  const int n = 9;
  std::string variables, binaries, equations, constraints, supply;
  for (int i = 0; i < n; ++i) {
    const std::string x = "x" + std::to_string(i), z = "z" + std::to_string(i),
                      w = "w" + std::to_string(i);
    const auto number = [&](double low, double high) {
      return std::to_string(low + (high - low) * share(random));
    };
    const std::string low = number(18, 19), high = number(20, 21);
    variables += x + " = " + number(19.2, 19.8) + "\n";
    binaries += z + " = " + (share(random) < 0.5 ? "1" : "0") + "\n";
    const std::string neighbour = "x" + std::to_string((i + 1) % n);
    equations += "\"(der(" + x + ") + " + number(0.05, 0.2) + "*(" + x + " - 5) + " +
                 number(0, 0.3) + "*(" + x + " - " + neighbour + "))*y - " + number(8, 14) + "*" +
                 z + " = 0\",\n";
    supply += " + " + number(0.05, 0.3) + "*" + z;
    if (i % 3 == 2) {
      binaries += w + " = 1\n";
      constraints += "\"(" + low + " - " + x + ")*(1 - " + z + " + " + w + ") <= 0\", \"(" + x +
                     " - " + high + ")*(1 - " + w + " + " + z + ") <= 0\",\n";
    } else {
      constraints += "\"(" + low + " - " + x + ")*(1 - " + z + ") + (" + x + " - " + high + ")*" +
                     z + " <= 0\",\n";
    }
  }
  return "[variables]\n" + variables + "y = 2\n[binaries]\n" + binaries +
         "[model]\nequations = [\n" + equations + "\"y = 1" + supply + "\",\n]\nconstraints = [\n" +
         constraints + "]\n[run]\nt = [0, 4]\n";
}

TEST_CASE("random models change in the same order by both ways") {
  std::size_t all = 0;
  for (unsigned seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    const Difference found = difference(random_supply(seed), 4, 2000);
    CHECK(found.in_time <= 0.2 * 4 / 2000);
    all += found.changes;
  }
  CHECK(all > 100);
}

/// Heaters of `first` and `second`: at x = 20 either one may go on, with the rates first - 1 and
/// second - 1.
std::string two_heaters(const std::string& first, const std::string& second) {
  return "[variables]\nx = 20.5\n[binaries]\na = 0\nb = 0\n[model]\nequations = [\"der(x) = -1 + " +
         first + "*a + " + second +
         "*b\"]\nconstraints = [\"(20 - x)*(1 - a)*(1 - b) <= 0\", "
         "\"(x - 22)*(1 - (1 - a)*(1 - b)) <= 0\"]\n[run]\nt = [0, 1]\n";
}

TEST_CASE("which of two heaters goes on: bounds of errors tell rates apart in both paths, no share does") {
  for (const auto& [second, expected] : std::map<std::string, std::string>{
           {"3", "first declared binary changes"},
           {"2.999999999999", "smallest rate norm"},  // nearer than 1e-11 of a norm
           {"3.000000000001", "smallest rate norm"}}) {
    const auto& shown_second = second;
    CAPTURE(shown_second);
    const std::string text = two_heaters("3", second);
    for (const std::string& which : {text, with_idle_states(text)}) {
      const Run found = run(which, 1, 64);
      REQUIRE(found.trajectory.status == Status::solved);
      REQUIRE(changes(found).size() == 1);
      CHECK(changes(found)[0].binary == (second < "3" ? "b" : "a"));
      CHECK(found.trajectory.events.front().note.find(expected) != std::string::npos);
    }
  }
}

TEST_CASE("modes of index 2 beside many states are those of the model alone") {
  const Difference found = difference(reference("s002_converter"), 10, 1000);
  CHECK(found.changes > 10);
  CHECK(found.in_time <= 0.5 * 10 / 1000);
}

}  // namespace
}  // namespace both_paths

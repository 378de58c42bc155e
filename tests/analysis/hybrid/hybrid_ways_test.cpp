#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <string>

#include <perp/analysis/run/schemes.hpp>
#include <perp/analysis/solutions/trees.hpp>
#include <perp/models/language/read_model.hpp>

namespace {

using namespace perp;

Model read(const std::string& text, const std::vector<Override>& set) {
  ReadOptions known;
  known.hybrid = true;
  return read_model_text(text, "m.toml", set, known);
}

// A coil without a diode: i = 20 (1 - e^(-t/2)) while the switch is closed; open, i = 0.
const std::string coil = R"(
[variables]
i = 0
v = 0
[binaries]
z = { start = 1, modes = ["open", "closed"] }
[model]
equations = ["der(i) = v - 0.5*i", "z*(v - 10) + (1 - z)*i = 0"]
constraints = ["z*(i - 4) + (1 - z)*(t - 1) <= 0"]
[run]
t = [0, 1.25]
h = 0.0001
)";

TEST_CASE("where no mode continues the states jump into one that does, in every scheme") {
  for (const std::string name : {"located", "backward_euler"}) {
    CAPTURE(name);
    const Model model = read(coil, {{"run.scheme", name}});
    REQUIRE(model.hybrid != nullptr);
    const Trajectory run = scheme(name).run(model, {});
    CHECK(run.status == Status::solved);
    const double tolerance = name == "located" ? 1e-9 : 1e-3;
    const auto jump = std::find_if(run.events.begin(), run.events.end(), [](const Event& event) {
      return event.kind == EventKind::jump;
    });
    REQUIRE(jump != run.events.end());
    CHECK(std::abs(jump->t + 2 * std::log(0.8)) <= tolerance);
    CHECK(jump->x_before[0] == doctest::Approx(4).epsilon(1e-9));
    CHECK(jump->x_after[0] == doctest::Approx(0));
    CHECK(jump->size == doctest::Approx(4).epsilon(1e-9));
    // Closed again from t = 1 on.
    CHECK(std::abs(run.x.back()[0] - 20 * (1 - std::exp(-0.125))) <= 10 * tolerance);
  }
}

TEST_CASE("derivatives through such a jump are not made up: the run ends there") {
  const Model model = read(coil, {{"run.scheme", "located"}});
  const SensitivityRequest request{{0}, {}};
  const Trajectory run = run_hybrid(model, {}, request);
  CHECK(run.status == Status::not_solved);
  CHECK(std::abs(run.t.back() + 2 * std::log(0.8)) <= 1e-9);
}

TEST_CASE("policy all follows every continuation of a hybrid model in every scheme") {
  // der(x) = 2.5 - x - 3 z repels from x = 1: z = 1, z = 0, and sliding, each beside w = 0 and w = 1.
  const std::string text = R"(
[variables]
x = 1
[binaries]
z = 1
w = 0
[model]
equations = ["der(x) = 2.5 - x - 3*z"]
constraints = ["(x - 1)*(2*z - 1) <= 0", "(x - 9)*(1 - w + w*z) <= 0"]
[run]
t = [0, 0.5]
h = 0.0005
policy = "all"
)";
  for (const std::string name : {"located", "backward_euler", "theta"}) {
    CAPTURE(name);
    const Model model = read(text, {{"run.scheme", name}});
    REQUIRE(model.hybrid != nullptr);
    const SolutionBranches found = solution_branches_of(model);
    CHECK(found.complete);
    CHECK(found.list.size() == 6);
    const double decay = std::exp(-0.5), tolerance = name == "located" ? 1e-9 : 1e-3;
    for (const double end : {-0.5 + 1.5 * decay, 2.5 - 1.5 * decay, 1.0})
      CHECK(std::count_if(found.list.begin(), found.list.end(), [&](const SolutionBranch& branch) {
              return branch.run.status == Status::solved &&
                     std::abs(branch.run.x.back()[0] - end) <= tolerance;
            }) == 2);
    REQUIRE(!found.list.empty());
    CHECK(std::abs(found.list.front().run.x.back()[0] - (-0.5 + 1.5 * decay)) <= tolerance);
  }
}

}  // namespace

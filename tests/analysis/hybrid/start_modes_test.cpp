#include <doctest/doctest.h>
#include <cmath>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <perp/analysis/hybrid/start_modes.hpp>
#include <perp/analysis/run/schemes.hpp>
#include <perp/models/language/hybrid/read_hybrid.hpp>
#include <perp/models/language/read_model.hpp>

// How models of many binaries start, and stiff ones of few are run.
namespace {

using namespace perp;

std::string zoo(const std::string& name) {
  std::ifstream stream(find_model(name));
  REQUIRE(stream);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

HybridModel of_size(const std::string& name, int size) {
  std::string text = zoo(name);
  const std::size_t place = text.find("\nN "), end = text.find('\n', place + 1);
  text.replace(place, end - place, "\nN = " + std::to_string(size));
  return *read_hybrid_model_text(text, name);
}

TEST_CASE("what a large model shows of its start by series is what the dense search finds, with its index") {
  struct Case {
    const char* name;
    int size, index;
  };
  for (const Case& c : {Case{"rooms", 40, 0}, Case{"tanks", 40, 1}}) {
    CAPTURE(c.name);
    const HybridModel model = of_size(c.name, c.size);
    REQUIRE(model.takes_whole_steps());
    const StartModes shown = shown_start_modes(model);
    HybridModes modes(model);
    const StartModes searched = start_modes(modes, 1, {.nearest_alone = true});
    REQUIRE(shown.modes.size() == 1);
    REQUIRE(searched.modes.size() == 1);
    CHECK(shown.modes[0].index == c.index);
    CHECK(shown.modes[0].index == searched.modes[0].index);
    CHECK(shown.modes[0].continuation.z == searched.modes[0].continuation.z);
    CHECK(shown.modes[0].continuation.is_strict == searched.modes[0].continuation.is_strict);
    CHECK(shown.found.violated == searched.found.violated);
    CHECK(!shown.found.is_complete);
  }
}

TEST_CASE("the mode of a large model that series find near the previous one is that of the dense search") {
  const HybridModel model = of_size("rooms", 130);
  HybridModes modes(model);
  Vector x = model.head.x0();
  x[6] = 18.9;   // off, below the lower ends
  x[40] = 20.5;  // and above the upper one
  std::vector<double> previous;
  for (const Binary& binary : model.binaries) previous.push_back(*binary.start);
  previous[40] = 1;
  const HybridContinuations near = modes.continuations(0, x, previous);
  const HybridContinuations dense = modes.continuations(0, x, previous, {.nearest_alone = true});
  REQUIRE(near.chosen);
  REQUIRE(dense.chosen);
  CHECK(near.notes.size() == 1);
  CHECK(near.list[0].z == dense.list[0].z);
  CHECK(near.list[0].z != previous);
  CHECK(near.violated == dense.violated);
  CHECK(near.called == dense.called);
  CHECK(near.list[0].inside == dense.list[0].inside);
  CHECK((near.list[0].rates - dense.list[0].rates).norm() < 1e-12 * dense.list[0].rates.norm());
}

TEST_CASE("ten thousand rooms show their start") {
  const StartModes start = shown_start_modes(of_size("rooms", 10000));
  REQUIRE(start.modes.size() == 1);
  CHECK(start.modes[0].index == 0);
  CHECK(start.modes[0].continuation.is_strict);
}

/// Two heaters of which one is on below 19, none above 21; w follows x at the rate L.
std::string follower(const std::string& rate) {
  return "[variables]\nx = 20\nw = 20\n[binaries]\nz1 = 0\nz2 = 0\n[model]\n"
         "equations = [\"der(x) = -0.1*(x - 5) + 3*(z1 + z2 - z1*z2) + 0.01*(w - x)\", \"der(w) = -" +
         rate +
         "*(w - x + 0.1*sin(t))\"]\n"
         "constraints = [\"(19 - x)*(1 - z1)*(1 - z2) <= 0\", \"(x - 21)*(1 - (1 - z1)*(1 - z2)) <= 0\"]\n"
         "[run]\nt = [0, 20]\nh = 1\nscheme = \"located\"\n";
}

Trajectory run_of(const std::string& text) {
  ReadOptions known;
  known.hybrid = true;
  const Model model = read_model_text(text, "m.toml", {{"run.tol", "1e-12"}}, known);
  IntegrateOptions options;
  options.times = {20.0};
  options.only_times = true;
  return scheme("located").run(model, options);
}

TEST_CASE("modes of small models are run by series, stiff ones by an implicit method") {
  const Trajectory soft = run_of(follower("10"));
  CHECK(soft.status == Status::solved);
  CHECK(soft.counts.count("factorisations") == 0);
  const Trajectory stiff = run_of(follower("1e6"));
  CHECK(stiff.status == Status::solved);
  CHECK(stiff.counts.at("factorisations") > 0);
  CHECK(stiff.counts.at("steps") < 2000);  // of 2e7 times of the follower
  // As far as it is w = x - 0.1 sin(t) at once, up to its rate divided by L.
  CHECK(stiff.x.back()[1] == doctest::Approx(stiff.x.back()[0] - 0.1 * std::sin(20.0)).epsilon(1e-6));
  CHECK(stiff.counts.at("mode_changes") == soft.counts.at("mode_changes"));
}

}  // namespace

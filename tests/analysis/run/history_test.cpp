#include <doctest/doctest.h>
#include <cmath>
#include <string>

#include <perp/analysis/run/history.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>

using namespace perp;

namespace {

/// The modes of a run.
std::vector<ModeSpan> modes_of(const std::string& text, double h = 2) {
  const Model model = read_model_text(text, "modes.toml");
  const Trajectory run = integrate(*model.equations, model.x0(), model.run.span, BackwardEuler{.h = h});
  REQUIRE(run.status == Status::solved);
  ModeHistory history;
  for (std::size_t k = 0; k < run.size(); ++k) history.add(run.t[k], run.mode[k]);
  return history.resolved(run.events);
}

/// Throws x below the surface at t = 0.4, from where it is back at 1.9; y is thrown at 2.12 and later.
std::string thrown(const std::string& start) {
  return "[variables]\nx = -0.2\ny = 0.4\nc = " + start + "\n[model]\n"
         "equations = [\"der(y) = if(x > -0.7, -2.5, -0.5)\", \"der(x) = 0.6\", \"der(c) = 1\"]\n"
         "when = [{ condition = \"c - 0.4\", direction = 1, set = { x = \"-1.6\", y = \"-y\" }, name = \"A\" },\n"
         "        { condition = \"y + 0.7\", set = { y = \"1.8\" }, name = \"B\" }]\n[run]\nt = [0, 6]\n";
}

}  // namespace

TEST_SUITE("analysis/history") {
  TEST_CASE("a mode that begins and ends within one step is among those of the run") {
    const std::vector<ModeSpan> modes = modes_of(thrown("0"));
    REQUIRE(modes.size() == 3);
    CHECK(modes[0].mode == modes[2].mode);
    CHECK(std::abs(modes[0].end - 0.4) < 1e-9);
    CHECK(std::abs(modes[1].start - 0.4) < 1e-9);
    CHECK(std::abs(modes[1].end - 1.9) < 1e-9);
    CHECK(std::abs(modes[2].start - 1.9) < 1e-9);
    CHECK(modes[2].end == 6);
  }

  TEST_CASE("a mode begins where its law changes, whatever resets are in the same step") {
    // Thrown at 0.9, back at 2.4: in the step in which y is thrown, too.
    const std::vector<ModeSpan> modes = modes_of(thrown("-0.5"));
    REQUIRE(modes.size() == 3);
    CHECK(std::abs(modes[1].start - 0.9) < 1e-9);
    CHECK(std::abs(modes[2].start - 2.4) < 1e-9);
  }

  TEST_CASE("laws that change one after the other within one step have each their moment") {
    const std::vector<ModeSpan> modes =
        modes_of("[variables]\nx = 0\ny = 0\n[model]\nequations = [\"der(x) = 1\", \"der(y) = step(x - 0.75) + 2*step(x - 1.25)\"]\n"
                 "[run]\nt = [0, 6]\n");
    REQUIRE(modes.size() == 3);
    CHECK(std::abs(modes[0].end - 0.75) < 1e-12);
    CHECK(std::abs(modes[1].end - 1.25) < 1e-12);
    CHECK(modes[1].mode != modes[0].mode);
    CHECK(modes[2].mode != modes[1].mode);
    CHECK(modes[2].end == 6);
  }

  TEST_CASE("a law that comes and goes several times within one step does so in the table too") {
    // Up at the rate 1 to 0.35, down at the rate 19 to 0.3, up again: 1 + 1/19 times 0.05 a cycle.
    const std::vector<ModeSpan> modes =
        modes_of("[variables]\nx = 0.3\n[model]\nequations = [\"der(x) = 1 - 20*z\"]\n"
                 "laws = [{ law = \"z in hysteresis(x, 0.3, 0.35)\", modes = [\"low\", \"high\"] }]\n[run]\nt = [0, 1.99]\n", 0.1);
    double high = 0;
    for (const ModeSpan& span : modes)
      if (span.mode == Mode{1}) high += span.end - span.start;
    CHECK(modes.size() == 75);  // 37 whole cycles up to 1.947, and low
    CHECK(std::abs(high - 37 * 0.05 / 19) < 1e-9);
  }
}

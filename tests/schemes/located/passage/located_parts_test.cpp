#include <doctest/doctest.h>
#include <cmath>
#include <numbers>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/located/passage/located_parts.hpp>

using namespace perp;

namespace {

/// The harmonic oscillator x = cos t, v = −sin t, with a contact law on x that is open before t = π/2.
Model oscillator() {
  return read_model_text("[variables]\nx = 1\nv = 0\n[model]\nlaws = [\"0 <= x perp u >= 0\"]\n"
                         "equations = [\"der(x) = v\", \"der(v) = -x + u\"]\n[run]\nt = [0, 2]\n",
                         "oscillator.toml");
}

/// The parts of a run that stands at its start, in the mode in which the contact is open.
void stand_at_start(LocatedParts& run, const Model& model) {
  LocatedState& at = run.at;
  at.span = model.run.span;
  at.scales = model_scales(at.system, model.x0(), at.span, Vector::Zero(2));
  run.jets.set_scales();
  run.integrator.set_scales();
  run.integrator.start_lengths(2);
  at.largest = model.x0().cwiseAbs();
  const Selection found = select(run.jets.all(), 0, model.x0(), Vector::Zero(1), Mode{0}, {0});
  REQUIRE(found.admissible.size() == 1);
  const Jet& jet = found.admissible.front().jet;
  at.now = {0, jet.x.col(0), jet.lambda.col(0), jet.w.col(0), found.admissible.front().mode};
  at.moved_from = at.now;
  run.integrator.enter(jet, true);
  run.locator.watch_mode();
}

}  // namespace

TEST_SUITE("schemes/located/passage") {
  TEST_CASE("attempts of any length leave the state where it is, and end on the solution") {
    const Model model = oscillator();
    const IntegrateOptions output;
    LocatedParts run(model.system.functions(), {.tol = 1e-10}, output);
    stand_at_start(run, model);
    for (const double h : {0.1, 0.05, 0.2}) {
      REQUIRE(run.integrator.attempt(h) == Radau::Outcome::solved);
      const Step end = run.integrator.end_of_attempt(h);
      CHECK(end.x[0] == doctest::Approx(std::cos(h)).epsilon(1e-11));
      CHECK(end.x[1] == doctest::Approx(-std::sin(h)).epsilon(1e-11));
      CHECK(run.integrator.sample(0.5, h).x[0] == doctest::Approx(std::cos(h / 2)).epsilon(1e-8));
      CHECK(run.at.now.t == 0);
      CHECK(run.at.now.x == model.x0());
    }
  }

  TEST_CASE("the locator finds the length of the step at whose end a gap is 0") {
    const Model model = oscillator();
    const IntegrateOptions output;
    LocatedParts run(model.system.functions(), {.tol = 1e-10}, output);
    stand_at_start(run, model);
    // Up to a time near π/2, so that the step to it is one that Radau IIA makes to the tolerance.
    const double start = 1.5;
    run.at.now.t = start;
    run.at.now.x = Vector{{std::cos(start), -std::sin(start)}};
    run.integrator.radau().start(start, run.at.now.x, Vector{{-std::sin(start), -std::cos(start)}});
    REQUIRE(run.integrator.attempt(0.05) == Radau::Outcome::solved);
    CHECK_FALSE(run.locator.first_fall(0.05));
    REQUIRE(run.integrator.attempt(0.1) == Radau::Outcome::solved);
    const auto fall = run.locator.first_fall(0.1);
    REQUIRE(fall);
    CHECK(run.locator.gap(*fall).law == 0);
    const auto length = run.locator.length_to(*fall, 0.1);
    REQUIRE(length);
    CHECK(start + *length == doctest::Approx(std::numbers::pi / 2).epsilon(1e-12));
    CHECK(std::abs(run.integrator.end_of_attempt(start + *length).x[0]) < 1e-14);
  }

  TEST_CASE("nothing is recorded after the end of a run") {
    const Model model = oscillator();
    const IntegrateOptions output;
    LocatedParts run(model.system.functions(), {}, output);
    stand_at_start(run, model);
    run.record.row(run.at.now, true);
    run.record.finish(Status::not_solved, "first");
    run.record.finish(Status::solved, "second");
    CHECK_FALSE(run.record.is_open());
    CHECK(run.record.result().status == Status::not_solved);
    CHECK(run.record.result().message == "first");
    CHECK(run.record.result().size() == 1);
  }
}

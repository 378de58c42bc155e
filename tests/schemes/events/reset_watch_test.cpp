#include <doctest/doctest.h>
#include <fmt/format.h>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>

using namespace perp;

TEST_SUITE("schemes/events/reset_watch") {
  TEST_CASE("a condition that jumps where a step ends fires once") {
    for (const char* condition : {"sign(x - 1)", "if(x > 1, 1, -1)", "step(x - 1) - 0.5"})
      for (const double h : {0.25, 0.125, 0.1, 0.03}) {
        const Model model = read_model_text(
            fmt::format("[variables]\nx = 0.25\nn = 0\n[model]\nequations = [\"der(x) = 1\", \"der(n) = 0\"]\n"
                        "when = [{{ condition = \"{}\", direction = 1, set = {{ n = \"n + 1\" }} }}]\n[run]\nt = [0, 2]\n",
                        condition),
            "a test");
        const Trajectory run = integrate(*model.equations, model.x0(), {0, 2}, BackwardEuler{.h = h});
        CAPTURE(condition);
        CAPTURE(h);
        REQUIRE_MESSAGE(run.status == Status::solved, run.message);
        CHECK(run.x.back()[1] == 1);
        REQUIRE(run.events.size() == 1);
        CHECK(run.events.front().t == doctest::Approx(0.75).epsilon(1e-12));
      }
  }

  TEST_CASE("a law that a reset carries to another branch and that leaves it where a step ends is there in between") {
    // c is a sawtooth of period 0.35 from 1.8 to 2.5; z rests while c < 1.9, which lasts 0.05 and may end with a step.
    const Model model = read_model_text(
        "[variables]\nc = 1.8\nz = 0\n[model]\nequations = [\"der(c) = 2\", \"der(z) = if(c > 1.9, 1, 0)\"]\n"
        "when = [{ condition = \"c - 2.5\", direction = 1, set = { c = \"1.8\" } }]\n[run]\nt = [0, 2]\n",
        "a test");
    for (const double h : {0.2, 0.1, 0.05, 0.03}) {
      const Trajectory run = integrate(*model.equations, model.x0(), {0, 2}, BackwardEuler{.h = h});
      CAPTURE(h);
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      CHECK(run.x.back()[1] == doctest::Approx(2 - 6 * 0.05).epsilon(1e-10));
      for (const Event& event : run.events) CHECK((event.kind == EventKind::jump || event.kind == EventKind::crossing));
      CHECK(run.events.size() == 16);
    }
  }
}

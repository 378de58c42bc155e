#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <string>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>

using namespace perp;

TEST_SUITE("schemes/decided_starts") {
  TEST_CASE("a law that reads another law's multiplier starts on the branch that this decides, however soon it leaves it") {
    // |sin(t) - 0.5| is above 0.001 up to 8.900024: a step of the start is longer than that.
    const Model model = read_model_text(
        "[variables]\nx = 0\n[model]\nequations = [\"der(x) = if(abs(sin(t) - 0.5) < 0.001, 1000, 0)\"]\n[run]\nt = [8.9, 10]\n", "start.toml");
    const double width = std::asin(0.501) - std::asin(0.499);
    for (const double h : {1.0, 0.1, 0.03}) {
      CAPTURE(h);
      const Trajectory run = integrate(*model.equations, model.x0(), model.run.span, BackwardEuler{.h = h});
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      CHECK(run.lambda.front()[1] == 0);  // of the if: not yet
      CHECK(std::abs(run.x.back()[0] - 1000 * width) < 1e-6);
    }
  }

  TEST_CASE("beside a surface that repels a start is on its own side, however near: it does not jump onto the surface") {
    for (const std::string rate : {"sign(x)", "1 + 2*sign(x)", "sign(x)*(1 + x^3)"})
      for (const double start : {1e-10, -1e-20, 1e-30, -1e-100, 1e-200, 1e-290, -1e-300, 1e-305})
        for (const double h : {0.25, 1e-3}) {
          CAPTURE(rate);
          CAPTURE(start);
          const Model model = read_model_text(fmt::format("[variables]\nx = {:.17g}\n[model]\nequations = [\"der(x) = {}\"]\n[run]\nt = [0, 0.5]\n", start, rate), "beside.toml");
          const Trajectory run = integrate(model.system, model.x0(), model.run.span, BackwardEuler{.h = h});
          REQUIRE_MESSAGE(run.status == Status::solved, run.message);
          CHECK(run.events.empty());
          CHECK(run.x.front()[0] == start);
          CHECK(run.x.back()[0] * start > 0);
          CHECK(std::abs(run.x.back()[0]) > 0.4);
        }
  }

  TEST_CASE("a law with memory that starts beside its end, however near, passes it") {
    for (const double start : {1e-10, 1e-100, 1e-300}) {
      CAPTURE(start);
      const Model model = read_model_text(fmt::format("[variables]\nx = {:.17g}\ny = 0\n[model]\nequations = [\"der(x) = -1\", \"der(y) = hys\"]\n"
                                                      "laws = [{{ law = \"hys in hysteresis(x, -1.5, 0)\", modes = [\"low\", \"high\"], start = \"low\" }}]\n"
                                                      "[run]\nt = [0, 1]\n", start), "memory.toml");
      const Trajectory run = integrate(model.system, model.x0(), model.run.span, BackwardEuler{.h = 0.1});
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      CHECK(run.x.back()[1] == doctest::Approx(1));
    }
  }
}

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <string>

#include <perp/models/read_model.hpp>
#include <perp/schemes/integrate.hpp>

using namespace perp;

namespace {

Trajectory captured_run(const std::string& equations, double h, double x0 = 0) {
  const Model model = read_model_text(
      fmt::format("[variables]\nx = {}\n[model]\nequations = [{}]\n[run]\nt = [0, 2]\n", x0,
                  equations),
      "pole.toml");
  const BackwardEuler scheme{.h = h};
  return std::visit(
      [&](const auto& system) { return integrate(system, model.x0(), {0, 2}, scheme); },
      model.system);
}

}  // namespace

TEST_SUITE("schemes/pole_watch") {
  TEST_CASE("a step of backward Euler passes no pole of a formula") {
    // x = -log|1 - t|, log|cos t| and the like have no continuation beyond the pole.
    for (const char* equation :
         {"\"der(x) = 1/(1-t)\"", "\"der(x) = tan(t)\"", "\"der(x) = 1/(1-t) + 0.1*sin(x)\"",
          "\"der(x) = sin(x) + (1-t)^(-2)\"", "\"der(x) = x^2*0.1 + tan(t)\""})
      for (const double h : {0.03, 0.25, 0.007}) {
        CAPTURE(equation);
        CAPTURE(h);
        const Trajectory run = captured_run(equation, h);
        CHECK(run.status == Status::not_solved);
        CHECK(run.t.back() < 1.6);
        CHECK(run.x.back().allFinite());
      }
    const std::string message = captured_run("\"der(x) = 1/(1-t)\"", 0.03).message;
    CHECK(message.find("the equations have a pole at t = 1,") != std::string::npos);
  }

  TEST_CASE("where a numerator vanishes too, or another branch holds, a denominator may pass 0") {
    for (const char* equation :
         {"\"der(x) = sin(t-1)/(t-1) + 0.1*sin(x)\"", "\"der(x) = sin(t-1)/(t-1)\"",
          "\"der(x) = -1 + 0.1*if(abs(x) > 0.1, 1/x, 10*x)\"", "\"der(x) = cos(3*t) + 0*x^2\""}) {
      CAPTURE(equation);
      const Trajectory run = captured_run(equation, 0.03, 1);
      CHECK_MESSAGE(run.status == Status::solved, run.message);
    }
  }
}

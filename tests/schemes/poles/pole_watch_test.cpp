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

  TEST_CASE("a step passes no pole without change of sign, none between its ends, none beside a law") {
    // Double poles, two poles within one step, and as many periods as steps: no sign tells them.
    for (const char* equation :
         {"\"der(x) = 1/(t-1)^2\"", "\"der(x) = 1/(t^2-2*t+1)\"",
          "\"der(x) = 1/((t-1)*(t-1.001))\"", "\"der(x) = 1/cos(628.3185307179587*t)\"",
          "\"der(x) = 0.1*sin(x) + 1/cos(628.3185307179587*t)\"",
          "\"der(x) = abs(tan(1.5707963267948966*t))\"", "\"der(x) = x*abs(1/(t-1))\""})
      for (const double h : {0.03, 0.25, 0.01}) {
        CAPTURE(std::string(equation));
        CAPTURE(h);
        const Trajectory run = captured_run(equation, h);
        CHECK(run.status == Status::not_solved);
        CHECK(run.t.back() <= 1);
        // A step that would end on the pole itself says that nothing is finite there.
        if (h == 0.03) CHECK(run.message.find("the equations have a pole at t = ") != std::string::npos);
      }
  }

  TEST_CASE("a run ends as near to a pole as steps get, wherever the grid has its points") {
    // ẏ = s/x, x = 1 − t: y = −log(1 − t).
    for (const double h : {0.1, 0.03, 0.017, 0.25, 0.0625}) {
      const Model model = read_model_text(
          fmt::format("[variables]\ny = 0\nx = 1\ns = 1\n[model]\nequations = [\"der(y) = s/x\", "
                      "\"der(x) = -1\", \"der(s) = 0\"]\n[run]\nt = [0, 2]\nh = {}\n",
                      h),
          "pole.toml");
      const Trajectory run = integrate(std::get<Dcs>(model.system), model.x0(), {0, 2},
                                       BackwardEuler{.h = h});
      CAPTURE(h);
      CHECK(run.status == Status::not_solved);
      CHECK(run.message.find("the equations have a pole at t = 1,") != std::string::npos);
      CHECK(run.t.back() < 1);
      CHECK(run.t.back() > 1 - 1e-10);
      // Backward Euler adds 1 where the distance halves, not log 2.
      CHECK(run.x.back()[0] > 20);
      CHECK(run.x.back()[0] < 60);
    }
  }

  TEST_CASE("a peak that is finite, or a rate with a finite integral, is no pole") {
    for (const char* equation :
         {"\"der(x) = 1/((t-1)^2+1e-12)\"", "\"der(x) = 1/sqrt(abs(t-1))\"",
          "\"der(x) = log(abs(t-1))\"", "\"der(x) = 1/((t-1)^2+1e-6) + 0.1*sin(x)\""}) {
      CAPTURE(equation);
      const Trajectory run = captured_run(equation, 0.03);
      CHECK_MESSAGE(run.status == Status::solved, run.message);
    }
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

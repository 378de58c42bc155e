// Steps of the capturing schemes end where functions of time switch, so that what is constant in between is
// integrated exactly, whatever the step length, and wherever the switches lie on the grid.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/system_schemes.hpp>

using namespace perp;

namespace {

/// ẋ = `input`, beside a variable that makes the system linear or not.
Model integrator(const std::string& input, bool linear) {
  return read_model_text("[variables]\nx = 0\ny = 1\n[model]\nequations = [\"der(x) = " + input +
                             "\", \"der(y) = -y" + (linear ? "" : "*y") + "\"]\n[run]\nt = [0, 1]\n",
                         "integrator.toml");
}

Trajectory run(const Model& model, double h, double theta, const IntegrateOptions& options = {}) {
  return integrate(model.system, model.x0(), model.run.span, Theta{.h = h, .theta = theta}, options);
}

std::vector<double> event_times(const Trajectory& run) {
  std::vector<double> times;
  for (const Event& event : run.events) times.push_back(event.t);
  return times;
}

void check_close(const std::vector<double>& found, const std::vector<double>& wanted) {
  REQUIRE(found.size() == wanted.size());
  for (std::size_t k = 0; k < wanted.size(); ++k) CHECK(std::abs(found[k] - wanted[k]) < 1e-14);
}

}  // namespace

TEST_SUITE("schemes/events/steps_at_switches") {
  TEST_CASE("pulses are integrated exactly by steps of any length, and their ends are events") {
    struct Case {
      const char* input;
      double integral;
      std::vector<double> times;
    };
    const std::vector<Case> cases{
        {"if(t > 0.3, 100, 0)", 70, {0.3}},
        {"if(t > 0.9, 100, 0)", 10, {0.9}},
        {"if(t > 0.31 and t < 0.31001, 1e5, 0)", 1, {0.31, 0.31001}},
        {"if(t > 0.37 and t < 0.42, 20, 0)", 1, {0.37, 0.42}},
        {"sign(sin(2*pi*t/0.4))", 0.2, {0.2, 0.4, 0.6, 0.8}},  // all on the grid of h = 0.1
        {"step(0.5 - t)*4", 2, {0.5}},
    };
    for (const Case& c : cases)
      for (const bool linear : {true, false})
        for (const double h : {0.1, 0.07, 0.2, 1.0, 1.0 / 3})
          for (const double theta : {1.0, 0.5}) {
            CAPTURE(c.input);
            CAPTURE(linear);
            CAPTURE(h);
            CAPTURE(theta);
            const Trajectory result = run(integrator(c.input, linear), h, theta);
            REQUIRE(result.status == Status::solved);
            CHECK(result.t.back() == 1);
            CHECK(std::abs(result.x.back()[0] - c.integral) < 1e-11);
            check_close(event_times(result), c.times);
          }
  }

  TEST_CASE("a pulse of a formula that is flat at the start of a step is found, however short it is") {
    for (const double width : {1e-1, 1e-2, 1e-4, 1e-6})
      for (const double h : {0.5, 0.1, 0.02}) {
        CAPTURE(width);
        CAPTURE(h);
        const Model model = read_model_text(
            fmt::format("[variables]\nx = 0\n[model]\nequations = [\"der(x) = if(2*exp(-((t - 7)/{})^2) > 1, 1, 0)\"]\n[run]\n"
                        "t = [0, 20]\n",
                        width),
            "a pulse");
        const double inside = 2 * width * std::sqrt(std::log(2.0));
        CHECK(std::abs(run(model, h, 1).x.back()[0] / inside - 1) < 1e-7);
      }
  }

  TEST_CASE("rows stay on the grid, and a run that keeps none ends in the same state") {
    const Model model = integrator("sign(sin(2*pi*t/0.4))", true);
    const Trajectory all = run(model, 0.1, 1), none = run(model, 0.1, 1, {.keep = false});
    REQUIRE(all.size() == 11);
    for (std::size_t k = 0; k < all.size(); ++k)
      CHECK(all.t[k] == (k == 10 ? 1.0 : static_cast<double>(k) * 0.1));
    CHECK(none.x.back() == all.x.back());
    CHECK(none.t.back() == 1);
    CHECK(none.counts.at("steps") == all.counts.at("steps"));
  }

  TEST_CASE("a sum of random pulses has the sum of their integrals") {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> time(0.01, 0.99), height(-5, 5);
    for (int trial = 0; trial < 30; ++trial) {
      std::string input = "0";
      double integral = 0;
      for (int k = 0; k < 5; ++k) {
        // Some of the ends are round numbers, as users write them.
        double from = time(random), to = time(random);
        if (k % 2 == 0) from = std::round(from * 10) / 10;
        if (to < from) std::swap(from, to);
        const double a = height(random);
        input += fmt::format(" + {}*step(t - {})*step({} - t)", a, from, to);
        integral += a * (to - from);
      }
      for (const double h : {0.1, 0.03, 0.5}) {
        CAPTURE(input);
        CAPTURE(h);
        const Trajectory result = run(integrator(input, trial % 2 == 0), h, 1);
        REQUIRE(result.status == Status::solved);
        CHECK(std::abs(result.x.back()[0] - integral) < 1e-11);
      }
    }
  }

  TEST_CASE("a matrix form whose input switches is stepped from switch to switch") {
    const Model model = read_model_text(
        "[variables]\nx = 0\n[system]\nA = [[0]]\nb = [\"sign(t - 0.3) + 1\"]\n[run]\nt = [0, 1]\n", "b.toml");
    for (const double h : {0.1, 0.25, 1.0})
      CHECK(std::abs(run(model, h, 1).x.back()[0] - 1.4) < 1e-13);
  }
}

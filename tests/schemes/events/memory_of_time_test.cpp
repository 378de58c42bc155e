// Laws with memory whose argument is a formula of time.
#include <doctest/doctest.h>
#include <cmath>
#include <numbers>
#include <string>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>

using namespace perp;

namespace {

Model model(const std::string& argument, const std::string& ends, const std::string& rate, double end) {
  return read_model_text("[variables]\nx = 0\n[model]\nequations = [\"der(x) = " + rate + "\"]\nlaws = [\"L in hysteresis(" +
                             argument + ", " + ends + ")\"]\n[run]\nt = [0, " + std::to_string(end) + "]\n",
                         "memory.toml");
}

}  // namespace

TEST_SUITE("schemes/events/memory_of_time") {
  TEST_CASE("a hysteresis of time switches at its moments, however long the steps") {
    // L = 1 from sin = 0.9 rising to sin = -0.9 falling: half of each period
    const double first = std::asin(0.9) / (2 * std::numbers::pi);
    for (const std::string rate : {"L", "L + 0*x^3"})
      for (const double h : {1.0, 0.5, 0.3, 0.05}) {
        CAPTURE(rate);
        CAPTURE(h);
        const Model pulses = model("sin(2*pi*t)", "-0.9, 0.9", rate, 10);
        const Trajectory run = integrate(*pulses.equations, pulses.x0(), pulses.run.span, BackwardEuler{.h = h});
        REQUIRE(run.status == Status::solved);
        REQUIRE(run.events.size() == 20);
        for (std::size_t k = 0; k < 20; ++k)
          CHECK(std::abs(run.events[k].t - (first + 0.5 * static_cast<double>(k))) <= 1e-12);
        CHECK(std::abs(run.x.back()[0] - 5) <= 1e-12);
      }
  }

  TEST_CASE("parts of steps beside a switch of time are integrated, however short") {
    for (const double end : {1.9880062, 1.988 + 1e-9}) {
      const Model one = model("t", "0, " + std::to_string(end), "L", 7);
      const double at = std::stod(std::to_string(end));
      const Trajectory run = integrate(*one.equations, one.x0(), one.run.span, BackwardEuler{.h = 0.007});
      REQUIRE(run.status == Status::solved);
      CHECK(std::abs(run.x.back()[0] - (7 - at)) <= 1e-12);
    }
  }
}

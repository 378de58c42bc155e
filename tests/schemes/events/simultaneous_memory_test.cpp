#include <doctest/doctest.h>
#include <fmt/format.h>
#include <string>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/system_schemes.hpp>

// Laws with memory whose arguments reach their ends in one moment, by backward Euler.

using namespace perp;

namespace {

/// Two controllers of x, which runs at 1, 1 - a, 1 - b or 1 - a - b; each in its own words and order.
Trajectory two_controllers(const std::string& laws, double a, double b, const char* factor, const BackwardEuler& scheme) {
  const Model model = read_model_text(
      fmt::format("[variables]\nx = 0\ny = 0\n[model]\nequations = [\"der(x) = 1 - {}*p - {}*q\", \"der(y) = (p - 2*q){}\"]\n"
                  "laws = [{}]\n[run]\nt = [0, 6]\n",
                  a, b, factor, laws),
      "two_controllers.toml");
  return integrate(model.system, model.x0(), {0, 6}, scheme);
}

}  // namespace

TEST_SUITE("schemes/events/simultaneous_memory") {
  TEST_CASE("laws with memory change together where their arguments reach their ends in one moment") {
    const std::string p = "\"p in hysteresis(x, 0.2, 1)\"", q = "\"q in hysteresis(x, 0.2, 1)\"",
                      scaled = "\"q in hysteresis(0.7*x, 0.14, 0.7)\"";
    for (const auto& [a, b] : {std::pair(1.0, 1.0), std::pair(0.6, 0.7), std::pair(1.2, 0.3), std::pair(2.0, 0.0), std::pair(0.0, 2.0)})
      for (const std::string& laws : {p + ", " + q, q + ", " + p, p + ", " + scaled, scaled + ", " + p})
        for (const char* factor : {"", "*exp(0*y)"}) {
          CAPTURE(a);
          CAPTURE(b);
          CAPTURE(laws);
          CAPTURE(std::string(factor));
          const Trajectory run = two_controllers(laws, a, b, factor, {.h = 0.01});
          REQUIRE_MESSAGE(run.status == Status::solved, run.message);
          // Up from 0 to 1, then down to 0.2 at a + b - 1 and up at 1, again and again.
          double t = 1, turns = 0;
          for (bool is_down = true; t < 6; t += is_down ? 0.8 / (a + b - 1) : 0.8, is_down = !is_down) turns += 2;
          CHECK(run.events.size() == turns);
          for (std::size_t k = 0; k < run.mode.size(); ++k) CHECK(run.mode[k][0] == run.mode[k][1]);
        }
  }

  TEST_CASE("within a step that is not divided the law whose argument comes first to its end changes, not one that comes later") {
    // x reaches 0.5 within the step from 0.48, and turns; y would reach 0.6 by 0.01 a little later, were x to go on.
    for (const char* laws : {"\"p in hysteresis(x, 0, 0.5)\", \"q in hysteresis(x, 0, 0.502)\"",
                             "\"q in hysteresis(x, 0, 0.502)\", \"p in hysteresis(x, 0, 0.5)\""}) {
      CAPTURE(std::string(laws));
      const Trajectory run = two_controllers(laws, 2, 2, "", {.h = 0.04, .split_at_events = false});
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      const int of_p = laws[1] == 'p' ? 0 : 1;
      CHECK(run.events.front().law == of_p);
      CHECK(run.mode[static_cast<std::size_t>(14)][static_cast<std::size_t>(1 - of_p)] == 0);
    }
  }
}

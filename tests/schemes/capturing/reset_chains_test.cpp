#include <doctest/doctest.h>
#include <cmath>

#include <perp/models/language/read_model.hpp>
#include <perp/tests/run_by_name.hpp>

using namespace perp;

TEST_SUITE("schemes/reset_chains") {
  // One inflow for two tanks, which is switched to the one that has run empty: the times between are shorter by 2/3 each time, and both are
  // empty at t = 10.
  TEST_CASE("resets that lead each other's conditions on at one moment accumulate there, whatever rounding leaves of the levels") {
    const Model model = read_model_text(R"toml(
[variables]
a = 1
b = 1
q = -1
[model]
equations = ["der(a) = if(q > 0, 1, 0) - 0.6", "der(b) = if(q > 0, 0, 1) - 0.6", "der(q) = 0"]
when = [
  { condition = "a", direction = -1, set = { q = "1" }, name = "A" },
  { condition = "b", direction = -1, set = { q = "-1" }, name = "B" },
]
[run]
t = [0, 12]
)toml",
                                        "two_tanks.toml");
    for (const double h : {0.01, 0.1, 0.037, 1.0 / 64, 0.3}) {
      CAPTURE(h);
      const Trajectory run = test::run_by_name(model, "backward_euler", h);
      CHECK(run.status == Status::not_solved);
      CHECK(run.message.find("accumulate") != std::string::npos);
      CHECK(std::abs(run.t.back() - 10) < 1e-9);
    }
  }
}

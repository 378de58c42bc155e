#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <string>

#include <perp/models/language/read_model.hpp>
#include <perp/tests/run_by_name.hpp>

using namespace perp;

namespace {

constexpr double negligible = 1e-4;  ///< share of a velocity: far below the error of a step

/// A mass at x0 with the velocity v < 0 before a wall at `wall`, which moves with the velocity `speed`.
Model wall_model(double x0, double v, double wall, double speed, double end) {
  return read_model_text(fmt::format("[variables]\nx = {}\nv = {}\n[model]\nequations = [\"der(x) = v\", \"der(v) = l\"]\n"
                                     "laws = [\"0 <= l perp x - {} - {}*t >= 0\"]\n[run]\nt = [0, {}]\n",
                                     x0, v, wall, speed, end),
                         "wall.toml");
}

/// Its end, in steps of h.
void check_lands(const Model& model, double h, double v, double speed) {
  CAPTURE(h);
  const Trajectory run = test::run_by_name(model, "backward_euler", h);
  REQUIRE(run.status == Status::solved);
  CHECK(std::abs(run.x.back()[1] - speed) <= negligible * std::abs(v - speed));
}

}  // namespace

TEST_SUITE("schemes/landings") {
  TEST_CASE("a mass that reaches a wall at the end of a step stays there, whatever rounding makes of its gap") {
    check_lands(wall_model(1000.00003, -1e-4, 1000, 0, 3), 0.01, -1e-4, 0);
    check_lands(wall_model(1000.00011, -9e-5, 1000, 0, 3), 1.1 / 0.9 / 100, -9e-5, 0);
    check_lands(wall_model(1301, -700, 1, 0, 3), 1.3 / 0.7 / 50, -700, 0);
    check_lands(wall_model(1000.00013, -9e-5, 1000, 0, 3), 1.3 / 0.9 / 35, -9e-5, 0);
    for (const double scale : {1.0, 1e-4, 1e3, 0.1, 7.0})
      for (const double wall : {0.0, 1.0, 1e3})
        for (const int steps : {10, 50, 64, 100})
          check_lands(wall_model(wall + 0.9 * scale, -1.1 * scale, wall, 0, 3), 0.9 / 1.1 / steps, -1.1 * scale, 0);
  }

  TEST_CASE("a wall that reaches a mass at rest takes it along") {
    check_lands(wall_model(1000.00013, 0, 1000, 2e-4, 1.95), 1.3 / 2 / 100, 0, 2e-4);
    check_lands(wall_model(1000.00011, 0, 1000, 9e-5, 3.6), 1.1 / 0.9 / 50, 0, 9e-5);
  }

  TEST_CASE("a landing is told with its jump, whatever origin its place is counted from") {
    double moment = 0;  // by the first origin
    for (int k = 0; k <= 22; k += 2) {
      const double origin = std::ldexp(1.0, k);
      CAPTURE(origin);
      const Model model = read_model_text(fmt::format("[variables]\nx = {:.17g}\nv = -0.009\n[model]\n"
                                                      "equations = [\"der(x) = v\", \"der(v) = -9.496 - 0.188*v + l\"]\n"
                                                      "laws = [\"0 <= l perp x + {:.17g} >= 0\"]\nrestitution = {{ l = 0 }}\n"
                                                      "[run]\nt = [0, 0.9]\n",
                                                      1.229 - origin, origin),
                                          "far.toml");
      const Trajectory run = test::run_by_name(model, "backward_euler", 0.0069296875);
      REQUIRE(run.status == Status::solved);
      REQUIRE(run.events.size() == 1);
      CHECK(run.events[0].kind == EventKind::jump);
      CHECK(run.events[0].size == doctest::Approx(4.647).epsilon(1e-3));
      if (k == 0) moment = run.events[0].t;
      CHECK(std::abs(run.events[0].t - moment) <= 1e-13 * origin);
    }
  }

  // Behind the surface by rounding, the mass left it again with 1e-7 of its velocity and landed once more.
  TEST_CASE("a mass that has landed stays, in whatever units: it lands once") {
    const Model model = read_model_text(R"toml(
[variables]
x = 159500.576297323
v = -639.8497143615768
[model]
laws = ["0 <= s perp 0.018756821085991433*x >= 0"]
equations = [
  "12447.08378680371*der(x) = 47.736192723672644*v",
  "1.3705440428760547*der(v) = -36.47946468696482 - 0.00013592396344857762*v + 199922.26665726549*s",
]
[run]
t = [0, 4747.9617466689615]
)toml",
                                        "units.toml");
    const Trajectory run = test::run_by_name(model, "backward_euler", 37.09345114585126);
    REQUIRE(run.status == Status::solved);
    REQUIRE(run.events.size() == 1);
    CHECK(run.events[0].kind == EventKind::jump);
    CHECK(run.events[0].law == 0);
    CHECK(run.x.back()[1] == 0);
  }

  TEST_CASE("a rope that gets taut at the end of a step joins two masses") {
    const Model model = read_model_text(R"toml(
[variables]
x = -7.3
y = -7.3
u = 9e-05
w = 0
[model]
equations = ["der(x) = u", "der(y) = w", "der(u) = -l", "der(w) = l"]
laws = ["0 <= l perp 0.00013000000000000002 - (x - y) >= 0"]
[run]
t = [0, 4.333333333333333]
)toml",
                                        "rope.toml");
    const Trajectory run = test::run_by_name(model, "backward_euler", 0.04513888888888889);
    REQUIRE(run.status == Status::solved);
    CHECK(std::abs(run.x.back()[2] - 4.5e-5) <= negligible * 9e-5);
    CHECK(std::abs(run.x.back()[3] - 4.5e-5) <= negligible * 9e-5);
    CHECK(run.events.size() <= 2);
  }

  TEST_CASE("masses that pile up where steps end share their momentum") {
    const Model model = read_model_text(R"toml(
[variables]
x = -7.3
y = -6.199999999999999
z = -5.1
u = 0.7
p = 0
q = 0
[model]
equations = ["der(x) = u", "der(y) = p", "der(z) = q", "der(u) = -l", "der(p) = l - m", "der(q) = m"]
laws = ["0 <= l perp y - x >= 0", "0 <= m perp z - y >= 0"]
[run]
t = [0, 7.857142857142858]
)toml",
                                        "pile.toml");
    const Trajectory run = test::run_by_name(model, "backward_euler", 0.03142857142857143);
    REQUIRE(run.status == Status::solved);
    for (const int j : {3, 4, 5}) CHECK(std::abs(run.x.back()[j] - 0.7 / 3) <= negligible * 0.7);
  }
}

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
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

  // The gap far from the origin is known to its rounding q: a step of length δ with a δ² < q let go for an instant.
  TEST_CASE("a mass that rests far from the origin stays where another law changes in a short step") {
    const Trajectory slides = test::run_by_name(read_model_text(R"toml(
[variables]
x = -1025
y = -31.2
v = -0.02
[model]
laws = ["0 <= s perp y + 32 >= 0"]
equations = [
  "der(x) = 0.9*sign(-(x + 1024) - 0.5)",
  "der(y) = v",
  "der(v) = s + 0.5*(x + 1024)",
]
[run]
t = [0, 3.885]
)toml",
                                                               "slides.toml"),
                                               "backward_euler", 0.0303515625);
    REQUIRE(slides.status == Status::solved);
    REQUIRE(slides.events.size() == 2);
    CHECK(slides.events[1].kind == EventKind::jump);
    CHECK(slides.events[1].law == 0);
    const Trajectory crosses = test::run_by_name(read_model_text(R"toml(
[variables]
x = -1.825
y = -255.6
v = -0.01
[model]
laws = ["0 <= s perp y + 256 >= 0"]
equations = [
  "der(x) = -1.36*(x + 2) - 0.785 + 0.94*sin(0.819*t) + 1.685*abs(1.796*(x + 2))",
  "der(y) = v",
  "der(v) = -6.296 + s - 0.5*(x + 2)",
]
[run]
t = [0, 2]
)toml",
                                                                "crosses.toml"),
                                                "backward_euler", 0.01571875);
    REQUIRE(crosses.status == Status::solved);
    REQUIRE(crosses.events.size() == 3);
    CHECK(crosses.events[0].law == 0);
    CHECK(crosses.events[1].law == 1);
    CHECK(crosses.events[2].law == 1);
  }

  // Tiny steps left sliding and came back, 32 times: the landing behind them was a mode_change without a size.
  TEST_CASE("a landing far from the origin is told with its jump beside a variable that slides off its surface by rounding") {
    const Model model = read_model_text(R"toml(
[variables]
x = -1025.445
w = 127.9
y = -4095.246
v = -0.02
[model]
laws = ["0 <= s perp y + 4096 >= 0"]
equations = [
  "der(x) = -0.162*(x + 1024) - 0.1*(w - 128)*(x + 1024)",
  "der(w) = -0.647*(w - 128) + 0.256*(x + 1024) + 0.902*sign(-1.256*(w - 128) - 0.502)",
  "der(y) = v",
  "der(v) = -3.053 - 0.269*v + s + 0.485*(w - 128)",
]
[run]
t = [0, 2]
)toml",
                                        "slides.toml");
    const Trajectory run = test::run_by_name(model, "backward_euler", 0.0303515625);
    REQUIRE(run.status == Status::solved);
    REQUIRE(run.events.size() == 2);
    CHECK(run.events[1].kind == EventKind::jump);
    CHECK(run.events[1].law == 0);
  }

  // The velocity of a mass at rest moved by 1e-31, all rounding: the end of the next mode was taken for a pole.
  TEST_CASE("a mass at rest far from the origin moves no end of another mode") {
    const Model model = read_model_text(R"toml(
[variables]
x1 = 2049.968
x2 = 8.503
x3 = -3.02
x4 = 256.606
z1 = 0.255
x6 = 512.587
x7 = 0.436
[model]
laws = ["0 <= s3 perp x6 - 512 >= 0"]
equations = [
  "der(x1) = -1.445*(x1 - 2048) - 1.46*(x2 - 8) - 0.907 - 1.348*sin(2.824*t) - 1.285*step(-1.496*(x3 + 2))*step(-0.901*(x3 + 2) + 0.242*(x4 - 256))",
  "der(x2) = -1.422*(x2 - 8) + 0.341*(x1 - 2048) - 0.158*(x4 - 256)",
  "der(x3) = -1.19*(x3 + 2) - 1.39*(x1 - 2048) + 0.282*(x4 - 256) + 1.809",
  "der(x4) = -1.443 - 0.722*(z1 - 0.5)",
  "0 = -1.58*(z1 - 0.5) + 0.801*(x4 - 256) + 0.328*step(-1.496*(x3 + 2))",
  "der(x6) = x7",
  "der(x7) = -9.267 - 0.25*x7 + s3 + 0.464*(x1 - 2048)",
]
[run]
t = [0, 0.643]
)toml",
                                        "rests.toml");
    const Trajectory run = test::run_by_name(model, "backward_euler", 0.0050234375);
    REQUIRE(run.status == Status::solved);
    REQUIRE(run.events.size() == 3);
    CHECK(run.events[1].t == doctest::Approx(0.54100846).epsilon(1e-8));
    CHECK(run.counts.at("split") == 3);
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

  TEST_CASE("masses that meet between others that rub go on together, and part, in steps of every length") {
    const Model model = read_model_text(R"toml(
[variables]
x0 = 0.19949
v0 = -0.075016
x1 = 1.9018
v1 = -0.075554
x2 = 2.1177
v2 = -1.8074
x3 = 3.3259
v3 = -0.12028
[model]
equations = [
  "der(x0) = v0",
  "3*der(v0) = -17.92*(x0 + 0.05) + 0.7*sin(4.19*t) - 0.09*v0 - 2.66*sign(v0 + 0.83) + 3.26*(x1 - x0 - 1) - g0",
  "der(x1) = v1",
  "3*der(v1) = -3.26*(x1 - x0 - 1) + g0 + 4.75*(x2 - x1 - 1) - p1",
  "der(x2) = v2",
  "2*der(v2) = 5.65*sin(2.81*t) - 0.22 - 1.24*sign(v2 - 0.73) - 4.75*(x2 - x1 - 1) + 7.17*(x3 - x2 - 1) - g2 + p1",
  "der(x3) = v3",
  "2*der(v3) = -11.55*(x3 - 3.05) + 4.28*sin(4.35*t) - 0.06*v3 - if(v3 + 0.12 > 0, 2.71, -2.71) - 7.17*(x3 - x2 - 1) + g2",
]
laws = ["g0 in relay(v0 - v1, -0.82, 0.82)", "g2 in relay(v2 - v3, -1.06, 1.06)", "0 <= p1 perp x2 - x1 - 0.2 >= 0"]
[run]
t = [2, 2.03]
)toml",
                                        "meeting.toml");
    for (const double h : {0.004, 0.003, 0.002, 0.001, 0.0005}) {
      const Trajectory run = test::run_by_name(model, "backward_euler", h);
      CAPTURE(h);
      REQUIRE(run.status == Status::solved);
      const auto jump = std::ranges::find(run.events, EventKind::jump, &Event::kind);
      REQUIRE(jump != run.events.end());
      const double common = (3 * jump->x_before[3] + 2 * jump->x_before[5]) / 5;
      CHECK(std::abs(jump->x_after[3] - common) < 1e-3);
      CHECK(std::abs(jump->x_after[5] - common) < 1e-3);
      CHECK(run.x.back()[4] - run.x.back()[2] > 0.2);
    }
  }

  TEST_CASE("a constraint on a variable of third order is met with a velocity: its jump grows without bound, and is none") {
    const Model model = read_model_text("[variables]\nx = 1\nv = -3\na = 6\n[model]\nequations = [\"der(x) = v\", \"der(v) = a\", \"der(a) = -6 + l\"]\n"
                                        "laws = [\"0 <= x perp l >= 0\"]\n[run]\nt = [0, 2]\n",
                                        "third.toml");
    for (const double h : {0.1, 0.02, 0.01, 0.003}) {
      const Trajectory run = test::run_by_name(model, "backward_euler", h);
      CAPTURE(h);
      CHECK(run.status == Status::not_solved);
      CHECK(run.message.find("grows without bound") != std::string::npos);
      CHECK(run.t.back() < 1);
      CHECK(std::abs(run.x.back()[2]) < 7);
    }
  }
}

// Landings on curved surfaces by backward Euler: the velocity along the surface goes on, that into it ends.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>

using namespace perp;

namespace {

constexpr double gravity = 9.81;

struct Throw {
  double x, y, u, v;
};

/// A mass on a rope of length 1 that is slack at first.
Trajectory on_rope(const Throw& start, double end, double h) {
  const std::string text = fmt::format(
      "[variables]\nx = {}\ny = {}\nu = {}\nv = {}\n[model]\nequations = [\"der(x) = u\", \"der(y) = v\", "
      "\"der(u) = -2*x*l\", \"der(v) = -{} - 2*y*l\"]\nlaws = [\"0 <= 1 - x^2 - y^2 perp l >= 0\"]\n"
      "restitution = {{ l = 0 }}\n[run]\nt = [0, {}]\n",
      start.x, start.y, start.u, start.v, gravity, end);
  const Model model = read_model_text(text, "rope.toml");
  return integrate(model.system.functions(), model.x0(), model.run.span, BackwardEuler{.h = h});
}

/// Free flight to the moment at which the rope is tight.
double moment_of(const Throw& start, double end) {
  const auto slack = [&](double t) {
    const double x = start.x + start.u * t, y = start.y + start.v * t - gravity / 2 * t * t;
    return 1 - x * x - y * y;
  };
  double low = 0, high = end;
  for (int k = 0; k < 100; ++k) {
    const double middle = (low + high) / 2;
    (slack(middle) > 0 ? low : high) = middle;
  }
  return low;
}

}  // namespace

TEST_SUITE("schemes/jumps/curved_landing") {
  TEST_CASE("a rope that gets tight leaves the velocity along its circle, whatever the step length") {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> part(-0.5, 0.5), exponent(-4, -2.7);
    for (int trial = 0; trial < 40; ++trial) {
      const Throw start{part(random), part(random), part(random), part(random)};
      const double moment = moment_of(start, 2), h = std::pow(10, exponent(random));
      CAPTURE(trial);
      CAPTURE(h);
      const Trajectory run = on_rope(start, moment + 20 * h, h);
      REQUIRE(run.status == Status::solved);
      const double x = start.x + start.u * moment, y = start.y + start.v * moment - gravity / 2 * moment * moment;
      const double u = start.u, v = start.v - gravity * moment;
      const double along = u * -y + v * x;  // beside the radius 1
      const Vector& end = run.x.back();
      const double found = (end[2] * -end[1] + end[3] * end[0]) / std::hypot(end[0], end[1]);
      const double scale = std::hypot(u, v);
      CHECK(std::abs(found - along) < 60 * h * std::max(scale, gravity));
      CHECK(std::abs(end[2] * end[0] + end[3] * end[1]) < 60 * h * std::max(scale, gravity));
      CHECK(std::hypot(end[0], end[1]) < 1 + 1e-12);
    }
  }
}

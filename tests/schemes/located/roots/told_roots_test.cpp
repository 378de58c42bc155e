#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <perp/tests/schemes/located/models.hpp>

using namespace perp;

namespace {

/// y/unit + bend = drive (x - 5) with dx/dt = 1/time, y in its unit u, x from 0 to 10.
struct Steep {
  std::string bend;                          ///< of u
  std::function<double(double)> left;        ///< u + bend
  double drive = 1;

  [[nodiscard]] Model model(double unit, double time) const {
    return read_model_text(fmt::format("[parameters]\nunit = {:.17g}\nduration = {:.17g}\n[variables]\nx = 0\ny = 0\nu = 0\n[model]\n"
                                       "equations = [\"der(x) = 1/duration\", \"u + {} = {:.17g}*(x - 5)\", \"y = unit*u\"]\n"
                                       "[run]\nt = [0, {:.17g}]\n", unit, time, bend, drive, 10 * time), "steep.toml");
  }
  /// u at x by halving: the left side rises.
  [[nodiscard]] double root(double x) const {
    double low = -2 * drive * 10, high = -low;
    for (double middle = 0; (middle = low / 2 + high / 2) != low && middle != high;)
      (left(middle) > drive * (x - 5) ? high : low) = middle;
    return low;
  }
};

const std::vector<Steep>& steep_ones() {
  static const std::vector<Steep> list{
      {"3*tanh(1000*u)", [](double u) { return u + 3 * std::tanh(1000 * u); }, 20},
      {"3*tanh(1000*u)", [](double u) { return u + 3 * std::tanh(1000 * u); }, 100},
      {"1000*atan(1e5*u)", [](double u) { return u + 1000 * std::atan(1e5 * u); }, 1e4},
      {"1e4*u^3", [](double u) { return u + 1e4 * u * u * u; }, 10}};
  return list;
}

/// How far u is from the root, beside its size and what the rounding of x makes of it.
double miss(const Steep& steep, const Vector& x) {
  const double root = steep.root(x[0]), around = 1e-9;
  const double spread = steep.root(x[0] + around) - steep.root(x[0] - around);
  return std::abs(x[2] - root) / (std::abs(root) + spread);
}

}  // namespace

TEST_SUITE("schemes/located/roots/told_roots") {
  TEST_CASE("rows inside long steps have the algebraic variables that solve the equations, however steep these are") {
    for (const Steep& steep : steep_ones())
      for (const double unit : {1.0, 0x1p-30, 0x1p30})
        for (const double time : {1.0, 1e-9}) {
          CAPTURE(steep.bend);
          CAPTURE(steep.drive);
          CAPTURE(unit);
          CAPTURE(time);
          const Model model = steep.model(unit, time);
          IntegrateOptions options;
          for (int k = 0; k < 100; ++k) options.times.push_back((0.03 + 0.1 * k) * time);
          for (const double x : {4.88, 4.98, 4.99, 4.9999, 5.0, 5.001}) options.times.push_back(x * time);
          std::ranges::sort(options.times);
          const Trajectory run = integrate(test::system_of(model), model.x0(), model.run.span, test::located(model), options);
          CHECK(run.status == Status::solved);
          double worst = 0;
          for (const Vector& x : run.x) {
            if (x[0] == 0) continue;
            worst = std::max({worst, miss(steep, x), std::abs(x[1] / (unit * x[2]) - 1)});
          }
          CHECK(worst < 1e-7);
        }
  }

  TEST_CASE("the course of a step has the algebraic variables that solve the equations between its stages") {
    for (const Steep& steep : steep_ones()) {
      CAPTURE(steep.bend);
      CAPTURE(steep.drive);
      const Model model = steep.model(1, 1);
      double worst = 0;
      long states = 0;
      IntegrateOptions options;
      options.course = [&](const StepCourse& step) {
        for (int k = 1; k < 256; ++k, ++states) worst = std::max(worst, miss(steep, step.at(k / 256.0).x));
      };
      CHECK(integrate(test::system_of(model), model.x0(), model.run.span, test::located(model), options).status == Status::solved);
      CHECK(states > 500);
      CHECK(worst < 1e-7);
    }
  }
}

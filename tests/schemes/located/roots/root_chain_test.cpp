#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>

#include <perp/tests/schemes/located/models.hpp>

using namespace perp;

namespace {

struct Rooted {
  std::string variables, equations;
  double end = 7, tol = 1e-10, time = 1, fixed_step = 0;
};

Trajectory run_of(const Rooted& rooted) {
  const Model model = read_model_text(
      fmt::format("[variables]\n{}\n[model]\nequations = [{}]\n[run]\nt = [0, {:.17g}]\nh = {:.17g}\n", rooted.variables, rooted.equations,
                  rooted.end * rooted.time, 0.01 * rooted.time), "roots.toml");
  Located scheme = test::located(model);
  for (const auto& variable : model.variables) scheme.names.push_back(variable.name);
  scheme.tol = rooted.tol;
  scheme.fixed_step = rooted.fixed_step;
  scheme.output_step = 0.01 * rooted.time;
  return integrate(test::system_of(model), model.x0(), model.run.span, scheme);
}

/// The largest |y/exact(t) - 1| of its rows, y being the first variable, and t in units of its time.
double worst_row(const Rooted& rooted, const std::function<double(double)>& exact) {
  const Trajectory run = run_of(rooted);
  CHECK(run.status == Status::solved);
  CHECK(static_cast<double>(run.t.size()) > 100 * rooted.end);
  double worst = 0;
  for (std::size_t k = 0; k < run.t.size(); ++k)
    worst = std::max(worst, std::abs(run.x[k][0] / exact(run.t[k] / rooted.time) - 1));
  return worst;
}

/// Falls to 2e-9 and rises again, three times.
double wave(double t) { return std::exp(10 * (std::cos(3 * t) - 1)); }
const std::string square = "\"y^2 = exp(20*(cos(3*t) - 1))\", ";

}  // namespace

TEST_SUITE("schemes/located/roots/root_chain") {
  TEST_CASE("a root of an algebraic equation stays itself where it is far below its unit, beside its mirror image") {
    for (const double tol : {1e-6, 1e-10}) {
      CAPTURE(tol);
      CHECK(worst_row({"y = 1\nw = 0", square + "\"der(w) = y\"", 7, tol}, wave) < 1e-12);
      CHECK(worst_row({"y = -1\nw = 0", square + "\"der(w) = y\"", 7, tol}, [](double t) { return -wave(t); }) < 1e-12);
      CHECK(worst_row({"y = 1\nw = 0", "\"der(w) = y\", \"y^2 = exp(60*(cos(3*t) - 1))\"", 7, tol},
                      [](double t) { return std::pow(wave(t), 3); }) < 1e-12);
    }
    // Beside another one of the other sign, in two equations, and after another equation.
    CHECK(worst_row({"y = 1\nz = -1\nw = 0", square + "\"z^2 = exp(20*(cos(3*t) - 1))\", \"der(w) = y\""}, wave) < 1e-12);
    CHECK(worst_row({"y = 1\nz = 1\nw = 0", "\"y*z = exp(20*(cos(3*t) - 1))\", \"y = z\", \"der(w) = y\"", 1.2}, wave) < 1e-12);
    CHECK(worst_row({"y = 1\nz = 1\nw = 0", "\"y^2 = z\", \"z = exp(20*(cos(3*t) - 1))\", \"der(w) = y\""}, wave) < 1e-12);
    // Its equation holds a variable with a derivative.
    CHECK(worst_row({"y = 1\nx = 0", "\"y^2 = exp(2*x)\", \"der(x) = -30*sin(3*t)\""}, wave) < 1e-9);
  }

  TEST_CASE("the same in other units of the variable and of time") {
    for (const double unit : {0x1p-30, 0x1p30, 1e-9, 1e9}) {
      CAPTURE(unit);
      const std::string scaled = fmt::format("\"y^2 = {:.17g}*exp(20*(cos(3*t) - 1))\", \"der(w) = y\"", unit * unit);
      CHECK(worst_row({fmt::format("y = {:.17g}\nw = 0", unit), scaled}, [&](double t) { return unit * wave(t); }) < 1e-12);
      const std::string slow = fmt::format("\"y^2 = exp(20*(cos(3*(t/{:.17g})) - 1))\", \"der(w) = y/{:.17g}\"", unit, unit);
      CHECK(worst_row({"y = 1\nw = 0", slow, 7, 1e-10, unit}, wave) < 1e-12);
    }
  }

  TEST_CASE("the same with laws: of its own equation, of its value, and elsewhere") {
    const auto bent = [](double t) { return std::exp(-30 * t * (2 - t)); };
    CHECK(worst_row({"y = 1\nw = 0", "\"y*abs(y)*exp(60*t*(2 - t)) = 1\", \"der(w) = y\"", 2}, bent) < 1e-12);
    CHECK(worst_row({"y = -1\nw = 0", "\"y*max(y, -2*y) = -2*exp(20*(cos(3*t) - 1))\", \"der(w) = y\""}, [](double t) { return -wave(t); }) <
          1e-12);
    CHECK(worst_row({"y = 1\nw = 0", square + "\"der(w) = max(y, 1e-6)\""}, wave) < 1e-12);
    CHECK(worst_row({"y = 1\nw = 0", square + "\"der(w) = sign(t - 1.04) + sign(t - 1.05) + sign(sin(50*t))\""}, wave) < 1e-12);
    CHECK(worst_row({"y = 1\nw = 0.3", square + "\"der(w) = y - 0.2*sign(w - 0.5)\""}, wave) < 1e-12);
    // An integral of the sign tells of every moment between the rows.
    const Trajectory run = run_of({"y = 1\nw = 0", square + "\"der(w) = sign(y)\""});
    CHECK(run.status == Status::solved);
    CHECK(run.x.back()[1] == doctest::Approx(7).epsilon(1e-12));
  }

  TEST_CASE("steps of fixed length end where they would lead to another root") {
    for (const double step : {0.01, 0.05, 0.2}) {
      CAPTURE(step);
      const Trajectory run = run_of({"y = 1\nw = 0", square + "\"der(w) = y\"", 7, 1e-10, 1, step});
      CHECK((run.status == Status::solved || run.message.find("stopped at t = ") == 0));
      for (std::size_t k = 0; k < run.t.size(); ++k) CHECK(run.x[k][0] == doctest::Approx(wave(run.t[k])).epsilon(1e-12));
    }
  }

  TEST_CASE("of several roots of random models that never meet each stays in its place") {
    std::mt19937 random(7);
    const auto uniform = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); };
    for (int sample = 0; sample < 12; ++sample) {
      const int count = 2 + sample % 4;
      const double depth = uniform(0, 30);
      std::vector<double> roots{uniform(-1.5, -1)};
      while (std::ssize(roots) < count) roots.push_back(roots.back() + uniform(0.2, 1));
      const double root = roots[random() % roots.size()];
      const std::string size = fmt::format("exp({:.17g}*(cos(3*t) - 1))", depth);
      std::string product;
      for (const double other : roots) product += fmt::format("*(y - ({:.17g} + 0.5*sin(4*t))*{})", other, size);
      CAPTURE(product);
      CAPTURE(root);
      const Trajectory run = run_of({fmt::format("w = 0\ny = {:.17g}", root), fmt::format("\"der(w) = y\", \"1{} = 0\"", product), 3,
                                     sample % 2 == 0 ? 1e-6 : 1e-10});
      CHECK(run.status == Status::solved);
      double worst = 0;
      for (std::size_t k = 0; k < run.t.size(); ++k)
        worst = std::max(worst, std::abs(run.x[k][1] / std::exp(depth * (std::cos(3 * run.t[k]) - 1)) - root - 0.5 * std::sin(4 * run.t[k])));
      CHECK(worst < 1e-6);
    }
  }

  TEST_CASE("roots that meet, or come nearer than rounding tells, end the run") {
    const Trajectory meeting = run_of({"y = 1\nw = 0", "\"y^2 = (t - 1)^2\", \"der(w) = y\"", 2});
    CHECK(meeting.status == Status::not_solved);
    CHECK(meeting.t.back() == doctest::Approx(1).epsilon(1e-9));
    CHECK(meeting.message.find("; the equations that determine y are nearly singular there, as at a fold") != std::string::npos);

    const std::string size = "exp(40*(cos(3*t) - 1))";
    const Trajectory near = run_of({"y = 2.3\nw = 0", fmt::format("\"(y - 1 + {0})*(y - 1 - 0.2*{0})*(y - 1 - 1.3*{0}) = 0\", \"der(w) = y\"", size)});
    CHECK(near.status == Status::not_solved);
    for (std::size_t k = 0; k < near.t.size(); ++k)
      CHECK(near.x[k][0] > 1 + 0.75 * std::exp(40 * (std::cos(3 * near.t[k]) - 1)));
  }
}

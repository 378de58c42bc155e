#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <perp/core/base/error.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/tests/paths.hpp>
#include <perp/tests/schemes/located/smooth_systems.hpp>

using namespace perp;
using namespace smooth_systems;

namespace {

/// A run of a few steps of different lengths in one mode.
struct Case {
  Dcs system;
  Mode mode;
  Vector y;  // start (N)
  std::vector<double> steps;
  double difference = 1e-3;  // of the differences, relative
};

Vector end_of(const Case& run, int stages) {
  ModeFlow flow(run.system);
  flow.set_mode(run.mode);
  Radau radau(flow, stages, {.rtol = 1e-8, .atol = Vector::Constant(flow.n(), 1e-8)});
  radau.start(0, run.y);
  for (const double h : run.steps) {
    REQUIRE(radau.attempt(h) == Radau::Outcome::solved);
    radau.accept();
  }
  return radau.y();
}

/// Central difference of order four.
Vector difference(const std::function<Vector(double)>& f, double d) {
  return (8 * (f(d) - f(-d)) - (f(2 * d) - f(-2 * d))) / (12 * d);
}

/// Columns: all variables, then all parameters; against differences of the discrete steps.
void check_columns(const Case& run, int stages) {
  const int n = run.system.n(), p = static_cast<int>(run.system.parameters.size());
  std::vector<int> parameters, columns;
  for (int k = p - 1; k >= 0; --k) {  // not in the order of the columns
    parameters.push_back(k);
    columns.push_back(n + k);
  }
  ModeFlow flow(run.system, parameters);
  flow.set_mode(run.mode);
  Radau radau(flow, stages, {.rtol = 1e-8, .atol = Vector::Constant(n, 1e-8)});
  radau.start(0, run.y);
  Matrix S = Matrix::Identity(flow.size(), n + p), S_end;
  S.rightCols(p).setZero();
  bool before = true;
  for (const double h : run.steps) {
    REQUIRE(radau.attempt(h) == Radau::Outcome::solved);
    if (!before) radau.accept();
    REQUIRE(radau.sensitivities(S, S_end, columns));
    if (before) radau.accept();
    before = !before;
    S.swap(S_end);
  }
  for (int j = 0; j < n + p; ++j) {
    const double value = j < n ? run.y[j] : run.system.parameters[static_cast<std::size_t>(j - n)];
    const Vector wanted = difference(
        [&](double d) {
          Case moved = run;
          if (j < n)
            moved.y[j] += d;
          else
            moved.system.parameters[static_cast<std::size_t>(j - n)] += d;
          return end_of(moved, stages);
        },
        run.difference * std::max(std::abs(value), 0.1));
    const double size = std::max(wanted.cwiseAbs().maxCoeff(), 1.0);
    CAPTURE(j);
    CAPTURE(stages);
    CHECK((S.col(j) - wanted).cwiseAbs().maxCoeff() < 1e-10 * size);
  }
}

Dcs zoo_system(const std::string& name) {
  return *read_model(perp::test::models_path("/") + name + ".toml").equations;
}

/// Fully implicit, with parameters in the factor of ẋ.
const std::string implicit_text = R"toml(
[parameters]
a = 0.7
b = 1.3
[variables]
x = 1
y = 0.5
z = 0.2
[model]
equations = [
  "(2 + y)*(a*der(x) + 3*z^2*der(z)) = -b*y*(x^2 + y^2)",
  "(3 - x)*der(y) = b*x - sin(a*t)*z",
  "2*z = sin(a*x) + b*y/5",
]
[run]
t = [0, 1]
)toml";

const std::string variant37_text = R"toml(
[parameters]
B1 = -1.0
B2 = 0.5
a12 = 1.0
a21 = -1.0
[variables]
x1 = 0
x2 = 0
z = 0
[model]
equations = ["der(x1) = a12*x2 + B1*z + 1", "der(x2) = a21*x1 + B2*z", "x2 = v"]
laws = ["v in abs_plus_sign(x1)"]
[run]
t = [0, 1]
)toml";

}  // namespace

TEST_SUITE("schemes/located/radau_sensitivities") {
  TEST_CASE("they are the derivative of the discrete step: one predator, two prey, all modes") {
    const Dcs system = zoo_system("predator_prey");
    for (const int s : {3, 5, 7}) {
      check_columns({system, {0}, Vector{{0.02, 0.3, 0.5}}, {0.4, 0.3}}, s);
      check_columns({system, {2}, Vector{{0.4, 0.3, 0.5}}, {0.2, 0.3}}, s);
      const double on_surface = 0.66 * 0.896 / 7.81 * 0.3;
      check_columns({system, {1}, Vector{{on_surface, 0.3, 0.5, 0.5}}, {0.4, 0.3, 0.2}}, s);
    }
  }

  TEST_CASE("they are the derivative of the discrete step: [RAB] (37), sliding, index 2") {
    for (const int s : {3, 5, 7}) {
      const Dcs system = *read_model_text(variant37_text, "variant37.toml").equations;
      check_columns({system, {1}, Vector{{0, 0.1, 0.9, 0}}, {0.5, 0.25}}, s);
    }
  }

  TEST_CASE("they are the derivative of the discrete step: fully implicit equations") {
    const Dcs system = *read_model_text(implicit_text, "implicit.toml").equations;
    for (const int s : {3, 5, 7})
      check_columns(
          {system, {}, Vector{{0.8, 0.4, (std::sin(0.56) + 0.104) / 2}}, {0.2, 0.3}, 4e-4}, s);
  }

  TEST_CASE("they converge to the exact sensitivity with order 2s - 1") {
    // [RAB] (37): x₂ = (1 + x₂(0)) e^(t/2) - 1, so ∂x₂/∂x₂(0) = e^(t/2)
    ModeFlow flow(Variant37::system());
    flow.set_mode(Variant37::mode());
    double errors[3];
    for (const int k : {0, 1, 2}) {
      Radau radau(flow, 3, {.rtol = 1e-8, .atol = Vector::Constant(3, 1e-8)});
      radau.start(0, Variant37::guess());
      Matrix S{{0}, {1}, {0}, {0}}, S_end;
      const int steps = 2 << k;
      for (int i = 0; i < steps; ++i) {
        REQUIRE(radau.attempt(2.0 / steps) == Radau::Outcome::solved);
        REQUIRE(radau.sensitivities(S, S_end, {}));
        radau.accept();
        S.swap(S_end);
      }
      CHECK(S(0, 0) == 0);
      CHECK(std::abs(S(3, 0) - S(1, 0)) < 1e-14);  // λ = x₂
      errors[k] = std::abs(S(1, 0) - std::exp(1.0));
    }
    CHECK(std::abs(std::log2(errors[0] / errors[1]) - 5) < 0.3);
    CHECK(std::abs(std::log2(errors[1] / errors[2]) - 5) < 0.3);
  }

  TEST_CASE("wrong shapes are refused with the reason") {
    ModeFlow flow(zoo_system("predator_prey"), {0, 1});
    flow.set_mode({0});
    Radau radau(flow, 3, {.rtol = 1e-8, .atol = Vector::Constant(3, 1e-8)});
    radau.start(0, Vector{{0.02, 0.3, 0.5}});
    Matrix S = Matrix::Identity(3, 3), S_end;
    CHECK_THROWS_WITH_AS((void)radau.sensitivities(S, S_end, {-1, -1}),
                         "sensitivities need a step that was solved", InvalidInput);
    REQUIRE(radau.attempt(0.1) == Radau::Outcome::solved);
    CHECK_THROWS_WITH_AS((void)radau.sensitivities(S, S_end, {0}),
                         "column_of_parameter must have 2 entries but has 1", InvalidInput);
    CHECK_THROWS_WITH_AS((void)radau.sensitivities(S, S_end, {0, 3}),
                         "column_of_parameter names column 3 of 3", InvalidInput);
    S.resize(4, 3);
    CHECK_THROWS_WITH_AS((void)radau.sensitivities(S, S_end, {-1, -1}),
                         "S_start must have 3 rows but has 4", InvalidInput);
  }
}

// Steps whose search for solutions needs much of the work that half a step may do, Newton's method.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <string>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/step/step_search.hpp>
#include <perp/schemes/system_schemes.hpp>
#include <perp/tests/paths.hpp>

using namespace perp;

namespace {

/// A ball lands beside laws whose modes have equations that nothing solves, with a product of two multipliers.
const char* const with_a_product = R"model(
[variables]
x1 = 0.04
x2 = 1.188
x3 = 0.202
x4 = 0.342
x5 = 0.284
[model]
laws = [
  "s5 in hysteresis(x2, -0.424, 0)",
  "0 <= s6 perp x4 >= 0",
]
equations = [
  "der(x1) = -1.016*x1 - 1.267*x2 - 1.108*x3 + 0.745 - 0.115*max(-0.396*x1, 0)",
  "der(x2) = -1.021*x2 - 0.401*max(-0.396*x1, 0) - 2.498*s5 + 0.462",
  "der(x3) = -1.335*x3 - 0.401*x2 - 1.438*sign(-0.209*x2) - 1.632*step(-1.749*x3 - 1.177)*step(-1.132*x1)",
  "der(x4) = x5",
  "der(x5) = -6.237 - 0.443*x5 + s6 - 0.859*x1",
]
[run]
t = [0, 0.5]
h = 0.0285703125
)model";

/// A ball lands beside saturations and a sine, of which rows lose every bound of their rounding where x1 is 1e16.
const char* const with_a_sine = R"model(
[variables]
x1 = -0.467
x2 = -0.012
x3 = -1.702
x4 = 0.587
x5 = 0.457
[model]
laws = [
  "0 <= s6 perp x4 >= 0",
]
equations = [
  "der(x1) = -1.061*x1 - 0.943*x2 - 1.91 - 1.734*sat(-1.582*x1, -0.409, 0.918) - 0.334*sat(-1.698*x1 + 0.996 - 0.267*sat(-1.582*x1, -0.409, 0.918), -0.301, 0.916) - 1.243*step(-1.89*x1 + 0.809*x2 - 1.34)*step(0.4*x2)",
  "der(x2) = -0.107*x2 + 0.378*x1 + 0.818*x3 - 1.189 + 1.428*sin(1.155*t + 0.3) - 1.766*sat(-1.698*x1 + 0.996 - 0.267*sat(-1.582*x1, -0.409, 0.918), -0.301, 0.916) - 0.62*sign(-0.993*x1 + 0.387) + 0.343*sin(1.242*x1)",
  "der(x3) = -0.826*x3 + 1.205*x1 + 0.288*x2 - 1.848",
  "der(x4) = x5",
  "der(x5) = -4.679 - 0.326*x5 + s6 + 0.987*x1",
]
[run]
t = [0, 0.565]
h = 0.00019384765625
)model";

/// A block meets a stop beside three that rub each other: 324 modes are asked for a solution nearer than the landing.
const char* const with_friction = R"model(
[variables]
x0 = 0.414528
v0 = 0.461485
x1 = 1.22063
v1 = 0.207862
x2 = 2.14539
v2 = 0
x3 = 4.14661
v3 = -2.74327
[model]
laws = [
  "g0 in relay(v0 - v1, -0.56, 0.56)",
  "g1 in relay(v1 - v2, -0.81, 0.81)",
  "0 <= n0 perp 0.42 - x0 >= 0",
  "0 <= p1 perp x2 - x1 - 0.2 >= 0",
]
equations = [
  "der(x0) = v0",
  "3*der(v0) = 2.96*sin(1.28*t) + 8.71*(x1 - x0 - 1) - g0 - n0",
  "der(x1) = v1",
  "3*der(v1) = -14.91*(x1 - 1.06) - 0.08*v1 - 8.71*(x1 - x0 - 1) + g0 - g1 - p1",
  "der(x2) = v2",
  "der(v2) = -12.02*(x2 - 1.88) + 2.12*sin(0.53*t) + 0.62 - 2.18*sign(v2) + g1 + 0.72*(x3 - x2 - 1) + p1",
  "der(x3) = v3",
  "der(v3) = -1.87*(x3 - 3.11) + 5.16*sin(2.63*t) - 1.8*sign(v3 - 0.82)/(1 + 0.3*abs(v3 - 0.82)) - 0.72*(x3 - x2 - 1)",
]
[run]
t = [1.9, 1.916]
h = 0.004
)model";

Trajectory run(const std::string& text) {
  const Model model = read_model_text(text, "work.toml");
  return integrate(model.system.functions(), model.x0(), model.run.span, BackwardEuler{.h = model.run.h});
}

/// Does the ball x4 lie still on its ground at the end?
bool lies(const Trajectory& run) { return run.x.back()[3] == 0 && run.x.back()[4] == 0; }

/// The soft drink process beside the end of sliding; of several solutions the nearest is taken.
Trajectory run_soft_drink(double t_end) {
  const Model model = read_model(test::models_path("/soft_drink_paired.toml"));
  Vector x(9);
  x << 1.2917318499100436, 112.42662823588729, 0.023479159126229717, 0.018371103810595812, 7.498416571907342, 0.001565968122046485,
      4.007341457535995, 0.2754449874303737, 1.0162868624796697;
  return integrate(model.system.functions(), x, {0, t_end}, BackwardEuler{.h = model.run.h, .selector = Selector::minimal_norm});
}

/// Seven masses at rest, beside each other: each of 2187 modes is asked for a start, and all the work is done then.
constexpr int masses = 7;
std::string chain_at_rest() {
  std::string variables, equations;
  for (int i = 0; i < masses; ++i) {
    const int next = (i + 1) % masses;
    variables += fmt::format("v{} = 0\n", i);
    equations += fmt::format("\"der(v{0}) = {2} - sign(v{0})*(1 + 0.1*v{1}^2) - 0.3*(v{0} - v{1})^3\",\n", i, next, 0.9 + 0.05 * i);
  }
  return fmt::format("[variables]\n{}[model]\nequations = [\n{}]\n[run]\nt = [0, 0.2]\nh = 0.05\n", variables, equations);
}

}  // namespace

/// The same system with a list of branches for each law alone.
Dcs with_own_branches(Dcs system) {
  system.laws.change([](std::vector<Law>& laws) {
    for (Law& law : laws) law.branches = std::vector<Branch>(law.branches);
  });
  return system;
}

TEST_SUITE("schemes: work of nonlinear steps") {
  TEST_CASE("laws that share their branches are told apart: states and work are those of laws with branches of their own") {
    const Model model = read_model(test::models_path("/relay_dead_zone.toml"));
    Dcs shared = model.system.functions();
    shared.laws.change([](std::vector<Law>& laws) { laws.back().branches = laws.front().branches; });
    REQUIRE(shared.laws[0].branches.data() == shared.laws[1].branches.data());
    const Dcs own = with_own_branches(shared);
    REQUIRE(own.laws[0].branches.data() != own.laws[1].branches.data());
    const BackwardEuler scheme{.h = model.run.h, .selector = Selector::minimal_norm};
    const Trajectory a = integrate(shared, model.x0(), {0, 4.3}, scheme), b = integrate(own, model.x0(), {0, 4.3}, scheme);
    CHECK(a.x == b.x);
    CHECK(a.counts == b.counts);
  }

  TEST_CASE("a landing whose solution is found stands where the work for a nearer one runs out") {
    const Trajectory landed = run(with_a_product);
    CHECK(landed.status == Status::solved);
    CHECK(lies(landed));
  }

  TEST_CASE("searches for nearer solutions that run out of work leave the steps behind a landing theirs") {
    const Trajectory landed = run(with_friction);
    REQUIRE(landed.status == Status::solved);
    CHECK(landed.x.back()[0] == 0.42);
    CHECK(landed.x.back()[1] == 0);
  }

  TEST_CASE("Newton's method does not wait for rows to fall that are 0 without a bound of their rounding") {
    const Trajectory landed = run(with_a_sine);
    CHECK(landed.status == Status::solved);
    CHECK(lies(landed));
    CHECK(landed.counts.at("newton_iterations") < 100'000);
  }

  TEST_CASE("a mode that long steps leave by choice ends where short ones do, not at every change of length") {
    const Trajectory drink = run_soft_drink(0.02);
    CHECK(drink.status == Status::solved);
    CHECK(drink.counts.at("newton_iterations") < 50'000);
  }

  TEST_CASE("the work that a start takes is none of the first step's") {
    const Trajectory chain = run(chain_at_rest());
    REQUIRE(chain.status == Status::solved);
    for (int i = 0; i < masses; ++i) CHECK((chain.x.back()[i] > 0) == (i > 2));
    CHECK(chain.counts.at("not_enumerated") == 1);  // a probe of the start had no work left for its last modes
  }

  TEST_CASE("a search of all modes that runs out of work has not tried all") {
    const Model model = read_model_text(with_a_product, "model.toml");
    const Dcs system = model.system.functions();
    ImplicitStep step(system);
    ModeNewton newton(step);
    StepSearch search(step, newton);
    const Vector x0 = model.x0(), lambda = Vector::Zero(step.m());
    step.choose_units(x0, 0, model.run.h);
    step.set_step(x0, model.run.h, model.run.h);
    const auto tries_all = [&](long work) {
      newton.allow(work);
      return search.all({}, Vector::Zero(step.n()), lambda).all_modes;
    };
    CHECK(tries_all(1'000'000));
    CHECK_FALSE(tries_all(3));
  }
}

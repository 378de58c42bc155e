#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>

#include <perp/core/base/error.hpp>
#include <perp/core/recorder.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/tests/schemes/located/models.hpp>

using namespace perp;

namespace {

/// ẋ = −1.
Lcs falling() {
  return {.E = Matrix{{1}}, .A = Matrix{{0}}, .B = Matrix(1, 0), .b = Vector{{-1}},
          .C = Matrix(0, 1), .D = Matrix(0, 0), .q = Vector(0), .laws = {}};
}

/// ẍ = −x + 0 v²: not affine.
struct Oscillator {
  void residual(const auto& /*t*/, const auto& xdot, const auto& x, const auto& /*lambda*/,
                auto& r) const {
    r[0] = xdot[0] - x[1];
    r[1] = xdot[1] + x[0] + 0 * x[1] * x[1];
  }
};

/// 0 ≤ λ ⊥ x ≥ 0, ẋ = −1 + λ, and y = (x − 3)/7 − (x/7 − 3/7), which is 0 up to rounding.
struct Held {
  void residual(const auto& /*t*/, const auto& xdot, const auto& x, const auto& lambda,
                auto& r) const {
    r[0] = xdot[0] + 1 - lambda[0] + 0 * x[0] * x[0];
    r[1] = x[1] - (1e6 * ((x[0] - 3) / 7) - 1e6 * (x[0] / 7 - 3.0 / 7));
  }
  void output(const auto& /*t*/, const auto& x, const auto& /*lambda*/, auto& w) const {
    w[0] = x[0];
  }
};

IntegrateOptions within(int variable, Range range, bool ends_run = true) {
  IntegrateOptions options;
  options.bounds = {{.variable = variable, .range = range, .name = "x", .ends_run = ends_run}};
  return options;
}

std::vector<Event> passages(const Trajectory& run) {
  std::vector<Event> list;
  for (const Event& event : run.events)
    if (event.kind == EventKind::bound) list.push_back(event);
  return list;
}

}  // namespace

TEST_SUITE("schemes/bounds") {
  TEST_CASE("a bound ends an affine run at its moment, with a state of the scheme") {
    const Trajectory run = integrate(falling(), Vector{{1}}, {0, 2}, BackwardEuler{.h = 0.3},
                                     within(0, {0, inf}));
    CHECK(run.status == Status::interrupted);
    CHECK(run.message == "x falls below its bound 0 (bounds = [0, inf]) at t = 1");
    CHECK(std::abs(run.t.back() - 1) <= 1e-15);
    CHECK(std::abs(run.x.back()[0]) <= 1e-15);
    REQUIRE(passages(run).size() == 1);
    CHECK(passages(run)[0].t == run.t.back());
  }

  TEST_CASE("passages there and back are events where the bound does not end the run") {
    const Dcs system = make_dcs(Oscillator{}, 2);
    const Vector x0{{0, 1}};
    const IntegrateOptions options = within(0, {-inf, 0.5}, false);
    const double out = std::asin(0.5), back = std::acos(-1) - out;
    const Trajectory fine = integrate(system, x0, {0, 4}, BackwardEuler{.h = 1e-4}, options);
    const Trajectory located = integrate(system, x0, {0, 4}, Located{.tol = 1e-11}, options);
    for (const auto& [run, error] : {std::pair{&fine, 1e-3}, {&located, 1e-9}}) {
      CHECK(run->status == Status::solved);
      const std::vector<Event> list = passages(*run);
      REQUIRE(list.size() == 2);
      CHECK(list[0].note == "x rises above its bound 0.5");
      CHECK(list[1].note == "x falls below its bound 0.5 again");
      CHECK(std::abs(list[0].t - out) <= error);
      CHECK(std::abs(list[1].t - back) <= error);
    }
  }

  TEST_CASE("the located scheme sees an excursion inside of a step, and no bound that is touched") {
    const Dcs system = make_dcs(Oscillator{}, 2);
    const Vector x0{{0, 1}};
    Located scheme{.tol = 1e-11};
    CHECK(passages(integrate(system, x0, {0, 4}, scheme, within(0, {-inf, 1 - 1e-8}))).size() == 1);
    CHECK(passages(integrate(system, x0, {0, 4}, scheme, within(0, {-inf, 1 + 1e-8}))).empty());
  }

  TEST_CASE("rounding of large terms, and a law that holds a variable, pass no bound") {
    const Dcs system = make_dcs(Held{}, 2, {complementarity()});
    IntegrateOptions options = within(1, {0, inf});
    options.bounds.push_back({.variable = 0, .range = {0, inf}});
    const Vector x0{{1, 0}};
    CHECK(integrate(system, x0, {0, 3}, BackwardEuler{.h = 0.013}, options).status ==
          Status::solved);
    CHECK(integrate(system, x0, {0, 3}, Located{}, options).status == Status::solved);
  }

  TEST_CASE("bounds that bound nothing are refused") {
    const auto run = [](int variable, Range range) {
      return integrate(falling(), Vector{{1}}, {0, 1}, BackwardEuler{.h = 0.5},
                       within(variable, range));
    };
    const Range nothing{}, backwards{1, 0}, unknown{0, perp::nan}, some{0, 1};
    for (const Range& range : {nothing, backwards, unknown})
      CHECK_THROWS_AS((void)run(0, range), InvalidInput);
    CHECK_THROWS_AS((void)run(1, some), InvalidInput);
  }

  TEST_CASE("a variable that a law takes hold of at its bound touches it, in both run loops") {
    // 0 ≤ p ⊥ w ≥ 0 holds x at 0, w and x fall at one moment up to their rounding.
    for (const char* w : {"x", "x/3", "0.7*x", "x*(1+x)", "x*exp(-t)", "exp(x)-1", "x+x^3"})
      for (const char* rate : {"-1", "-0.3*x-0.1", "-1-x^2", "-sqrt(x+1)", "v-1"}) {
        CAPTURE(w);
        CAPTURE(rate);
        const Model model = read_model_text(
            fmt::format("[variables]\nx = {{ start = 0.7, bounds = [0, inf] }}\nv = 0.3\n[model]\n"
                        "equations = [\"der(x) = {} + p\", \"der(v) = -v\"]\n"
                        "laws = [\"0 <= {} perp p >= 0\"]\n[run]\nt = [0, 12]\n",
                        rate, w),
            "held.toml");
        const IntegrateOptions options = within(0, {0, inf});
        const Dcs system = perp::test::system_of(model);
        const Trajectory captured =
            integrate(system, model.x0(), {0, 12}, BackwardEuler{.h = 0.03}, options);
        CHECK_MESSAGE(captured.status == Status::solved, captured.message);
        const Trajectory located =
            integrate(system, model.x0(), {0, 12}, Located{.tol = 1e-10}, options);
        CHECK_MESSAGE(located.status == Status::solved, located.message);
      }
  }

  TEST_CASE("what a law holds by larger variables touches its bound up to their rounding") {
    // y = a − b of numbers of 1e9, 0 ≤ p ⊥ y ≥ 0: the last place of a and b is 1e-7.
    for (const double h : {0.3, 0.03}) {
      const Model model = read_model_text(
          "[variables]\na = 1000000000.7\nb = 1e9\ny = 0.7\n[model]\nequations = [\"der(a) = "
          "-1.1 + p\", \"der(b) = -0.1\", \"y = a - b\"]\nlaws = [\"0 <= a - b perp p >= 0\"]\n"
          "[run]\nt = [0, 6]\n",
          "large.toml");
      const Trajectory run = integrate(model.lcs(), model.x0(), {0, 6},
                                       BackwardEuler{.h = h}, within(2, {0, inf}));
      CHECK_MESSAGE(run.status == Status::solved, run.message);
    }
  }

  TEST_CASE("a bound is not passed where the rounding of all steps decides the law that holds it") {
    // ẏ = −1 + p is integrated apart from a − b, which 0 ≤ p ⊥ a − b ≥ 0 holds: numbers of 1e9, whose
    // difference starts as y does and drifts by 1e-7 a step.
    for (const char* more : {"", " + 1e-20*y^2"})
      for (const double h : {0.001, 0.03, 0.3}) {
        const Model model = read_model_text(
            fmt::format("[variables]\na = 1000000000.75\nb = 1e9\ny = 0.75\n[model]\nequations = "
                        "[\"der(a) = -1.1 + p\", \"der(b) = -0.1\", \"der(y) = -1 + p{}\"]\n"
                        "laws = [\"0 <= a - b perp p >= 0\"]\n[run]\nt = [0, 2]\n",
                        more),
            "apart.toml");
        CAPTURE(h);
        const Trajectory run = integrate(perp::test::system_of(model), model.x0(), {0, 2},
                                         BackwardEuler{.h = h}, within(2, {0, inf}));
        CHECK_MESSAGE(run.status == Status::solved, run.message);
      }
  }

  TEST_CASE("a bound that is met where a law changes and left behind is passed") {
    // ẋ = −1 − 1/2 sign(x): at x = 0 the law changes, and the motion goes on.
    for (const bool located : {false, true}) {
      const Model model = read_model_text(
          "[variables]\nx = 1\n[model]\nequations = [\"der(x) = -1 - 0.5*sign(x)\"]\n[run]\n"
          "t = [0, 2]\n",
          "on.toml");
      const Dcs system = perp::test::system_of(model);
      const IntegrateOptions options = within(0, {0, inf});
      const Trajectory run = located
                                 ? integrate(system, model.x0(), {0, 2}, Located{}, options)
                                 : integrate(system, model.x0(), {0, 2},
                                             BackwardEuler{.h = 0.03}, options);
      CHECK(run.status == Status::interrupted);
      CHECK(std::abs(run.t.back() - 2.0 / 3) <= 1e-9);
    }
  }
}

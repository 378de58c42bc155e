#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <perp/core/branches.hpp>
#include <perp/tests/schemes/located/models.hpp>

using namespace perp;

namespace {

/// A state that rests or moves little under forces that its steps need not resolve, beside company or alone.
struct Forced {
  std::string variables{}, equations{};
  double end = 0;

  [[nodiscard]] Model beside(const std::string& more_variables, const std::string& more_equations) const {
    return read_model_text(fmt::format("[variables]\n{}{}[model]\nequations = [{}{}]\n[run]\nt = [0, {}]\n", variables,
                                       more_variables, equations, more_equations, end),
                           "forced");
  }
};

Forced random_forced(std::mt19937& random) {
  const auto between = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); };
  const auto one_of = [&](std::vector<double> values) { return values[random() % values.size()]; };
  const double size = between(0.5, 2), second = one_of({0, 0, 0.3, 0.8});
  const double friction = between(0.6, 1.4) * (size + second * between(0, 1));
  const std::string force = fmt::format("{}*cos({}*t + {}) + {}*cos({}*t)", size, one_of({0.5, 1, 2, 3.3}), between(0, 6),
                                        second, between(0.3, 7));
  const double x1 = between(-2, 2), x2 = between(-2, 2);
  const std::string spring = fmt::format("-{}*x2 - {}*x1", one_of({0, 0.1, 0.3}), one_of({0, 0.2, 1, 4}));
  Forced made{.end = one_of({10, 20})};
  switch (random() % 4) {
    case 0:
      made.variables = fmt::format("x1 = {}\nx2 = {}\n", x1, x2);
      made.equations = fmt::format("\"der(x1) = x2\", \"der(x2) = {} + {} - {}*sign(x2)\"", spring, force, friction);
      break;
    case 1:
      made.variables = fmt::format("x1 = {}\nx2 = {}\ny = {}\n", x1, x2, between(-1, 1));
      made.equations = fmt::format("\"der(x1) = x2\", \"der(x2) = {} + {} - {}*sign(x2 - 0.2*y)\", "
                                   "\"der(y) = -y + 0.5*sign(x2)\"",
                                   spring, force, friction);
      break;
    case 2:
      made.variables = fmt::format("x1 = {}\nz = 0\n", x1);
      made.equations = fmt::format("\"z = {} - 0.3*x1 + 0.01*z^3\", \"der(x1) = if(z > {}, 1, -0.2*x1)\"", force,
                                   between(0.3, 1) * size);
      break;
    default:
      made.variables = fmt::format("x1 = {}\n", x1);
      made.equations = fmt::format("\"der(x1) = {} - {}*sign(x1)\"", force, friction);
  }
  return made;
}

void check_on_branches(const Model& model, const Trajectory& run) {
  for (std::size_t k = 0; k < run.size(); ++k)
    for (std::size_t i = 0; i < model.laws().size(); ++i) {
      const Branch& branch = model.laws()[i].branches[static_cast<std::size_t>(run.mode[k][i])];
      if (branch.b != 0) continue;
      const double lambda = run.lambda[k][static_cast<Eigen::Index>(i)];
      CHECK(lambda >= branch.lambda.lower - 1e-6);
      CHECK(lambda <= branch.lambda.upper + 1e-6);
    }
}

}  // namespace

TEST_SUITE("schemes/located/events/long_steps") {
  TEST_CASE("a multiplier that leaves its range for a moment while the state rests ends the mode") {
    // Sticking from 7.1; |2 cos(πt) - x1| exceeds the friction for 0.1 around t = 9.
    const Forced forced{"x1 = 3\nx2 = 4.0147749395953412\n",
                        "\"der(x1) = x2\", \"der(x2) = -0.2*x2 - x1 + 2*cos(pi*t) - 2.015332243657916*sign(x2)\"", 20};
    const Model model = forced.beside("", "");
    const Trajectory run = test::run_located(model, 1e-12);
    REQUIRE(run.status == Status::solved);
    CHECK(run.events.size() == 18);
    check_on_branches(model, run);
    // The friction law is left where 2 cos(πt) = x1 - 2.0153..: at 9 - δ with the x1 of the rest.
    const auto exit = std::ranges::find_if(run.events, [](const Event& event) { return event.t > 8 && event.t < 9; });
    REQUIRE(exit != run.events.end());
    const double x1 = exit->x_before[0];
    CHECK(std::abs(exit->t - (9 - std::acos((2.015332243657916 - x1) / 2) / std::numbers::pi)) < 1e-11);
  }

  TEST_CASE("events of what needs only long steps are those beside a fast oscillation, and no state is off its branch") {
    std::mt19937 random(20261126);
    for (int k = 0; k < 20; ++k) {
      const Forced forced = random_forced(random);
      const Model alone = forced.beside("", "");
      const Model beside = forced.beside("p = 1\nq = 0\n", ", \"der(p) = 40*q\", \"der(q) = -40*p\"");
      CAPTURE(forced.variables);
      CAPTURE(forced.equations);
      const Trajectory a = test::run_located(alone, k % 2 == 0 ? 1e-6 : 1e-10), b = test::run_located(beside, 1e-12);
      REQUIRE_MESSAGE(a.status == b.status, a.message);
      if (a.status != Status::solved) continue;
      check_on_branches(alone, a);
      REQUIRE(a.events.size() == b.events.size());
      for (std::size_t e = 0; e < a.events.size(); ++e) CHECK(a.events[e].to == b.events[e].to);
      CHECK((a.x.back() - b.x.back().head(a.x.back().size())).cwiseAbs().maxCoeff() < 1e-2);
    }
  }

  TEST_CASE("a pulse of a force is not stepped over, however short it is beside the steps, of time or of a clock") {
    for (const double width : {1.0, 0.3, 0.1, 1e-2, 1e-4})
      for (const std::string clock : {"t", "c"}) {
        CAPTURE(width);
        CAPTURE(clock);
        const Trajectory run = test::run_located(
            fmt::format("[variables]\nx = 0\nc = 0\n[model]\nequations = [\"der(x) = exp(-(({} - 7)/{})^2)\", "
                        "\"der(c) = 1\"]\n[run]\nt = [0, 20]\n",
                        clock, width));
        REQUIRE_MESSAGE(run.status == Status::solved, run.message);
        CHECK(std::abs(run.x.back()[0] / (width * std::sqrt(std::numbers::pi)) - 1) < 1e-7);
      }
  }

  TEST_CASE("pulses of a diode's current, which only an algebraic variable shows, are not stepped over") {
    // By Runge-Kutta of the current, eliminated in 40 digits' worth of Newton's method, with 400,000 steps.
    const auto end_of = [](const std::string& equations, double v, double end, double tol) {
      const Trajectory run = test::run_located(
          fmt::format("[variables]\nv = {}\na = 0\n[model]\nequations = [{}]\n[run]\nt = [0, {}]\n", v, equations, end), tol);
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      CHECK_FALSE(run.counts.contains("rows_not_solved"));
      return run.x.back()[0];
    };
    const auto diode = [](double volts, double leak) {
      return fmt::format("\"sin(10*t) - a = {0}*(exp((a - v)/{0}) - 1)\", \"der(v) = (sin(10*t) - a) - v/{1}\"", volts, leak);
    };
    for (const double tol : {1e-6, 1e-8, 1e-10, 1e-12}) {
      CAPTURE(tol);
      CHECK(std::abs(end_of(diode(1e-3, 10), 0.995, 20, tol) - 0.63613387) < 10 * tol + 1e-8);
    }
    CHECK(std::abs(end_of(diode(1e-3, 1000), 0.995, 20, 1e-10) - 0.9707561) < 1e-7);
    CHECK(std::abs(end_of(diode(1e-2, 1000), 0.995, 20, 1e-10) - 0.8926555) < 1e-7);
    const std::string mains = "\"325*sin(314*t) - a = 1e-12*(exp((a - v)/0.025) - 1)\", "
                              "\"1e-3*der(v) = 325*sin(314*t) - a - v/10000\"";
    CHECK(std::abs(end_of(mains, 320, 0.4, 1e-10) - 322.58123) < 1e-5);
    // By its current, which is 1e-12 of what it may be.
    const std::string current = "\"a = 2.59218e-13*(exp((495.01*sin(1562.756851*t) - 54.2124*a - v)/0.025) - 1)\", "
                                "\"1.16222e-05*der(v) = a - v/38164.7\"";
    for (const double tol : {1e-6, 1e-8, 1e-9, 1e-10}) {
      CAPTURE(tol);
      CHECK(std::abs(end_of(current, 445.509, 0.0120617, tol) - 473.864707) < 1e3 * tol);
    }
  }

  TEST_CASE("a row inside a step is on the course of the step") {
    // A row's own stages had another solution, far away, where the diode of the whole step stayed off.
    const Model model = read_model_text("[variables]\nv = 0.995\na = 0\n[model]\nequations = [\"sin(10*t) - a = "
                                        "1e-3*(exp((a - v)/1e-3) - 1)\", \"der(v) = (sin(10*t) - a) - v/10\"]\n"
                                        "[run]\nt = [0, 5]\n", "row");
    const Trajectory run = integrate(*model.equations, model.x0(), {0, 5}, Located{.output_step = 0.02});
    REQUIRE(run.status == Status::solved);
    for (const Vector& x : run.x) CHECK(x.cwiseAbs().maxCoeff() <= 1);
  }

  TEST_CASE("all states that are asked for are there, each once, though the stages of some steps to them are not solved") {
    const Model model = read_model(test::models_path("/soft_drink_paired.toml"));
    Located scheme = test::located(model, 1e-8);
    scheme.output_step = 0.02;
    const Trajectory run = integrate(test::system_of(model), model.x0(), {0, 20}, scheme);
    REQUIRE_MESSAGE(run.status == Status::solved, run.message);
    CHECK_FALSE(run.counts.contains("rows_not_solved"));
    for (int k = 0; k <= 1000; ++k) {
      CAPTURE(k);
      const auto near = std::ranges::count_if(run.t, [&](double t) { return std::abs(t - 0.02 * k) < 1e-12; });
      CHECK(near >= 1);
    }
    CHECK(std::ranges::count_if(run.t, [&](double t) { return std::ranges::count(run.t, t) > 1; }) <= 2 * std::ssize(run.events));
  }

  TEST_CASE("events that a pulse makes while all else rests are found, each once") {
    const auto events_of = [](const std::string& variables, const std::string& rest) {
      const Trajectory run = test::run_located(fmt::format("[variables]\n{}\n[model]\n{}\n[run]\nt = [0, 20]\n", variables, rest));
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      return run.events.size();
    };
    // Sticking, but for one moment.
    CHECK(events_of("v = 0", "equations = [\"der(v) = 2.3*exp(-((t - 9)/0.2)^2) - sign(v)\"]") == 2);
    CHECK(events_of("v = 0", "equations = [\"der(v) = 2/(1 + ((t - 9)/0.05)^2) - sign(v)\"]") == 2);
    // A train of pulses at the multiples of π from 7, seven within the span, each entered and left.
    CHECK(events_of("x = 0", "equations = [\"der(x) = max(2*cos(t - 7)^50, 1) - 1\"]") == 14);
    CHECK(events_of("x = 0", "equations = [\"der(x) = if(2*cos(t - 7)^50 > 1, 1, 0)\"]") == 14);
    // A burst that exceeds a slow oscillation seven times.
    CHECK(events_of("n = 0", "equations = [\"der(n) = 0\"]\nwhen = [{condition = \"0.9*sin(t) + 0.5*sin(37*t)*exp(-(t - 7)^2)"
                             " - 1\", direction = 1, set = {n = \"n + 1\"}}]") == 7);
  }

  TEST_CASE("crossings of formulas of a state that only its laws resolve are found where the formulas are 0") {
    struct Case {
      std::string w;   // of th, in mode while > 0
      double end;      // of the span
      double inside;   // time within
    };
    // Roots in closed form or to 12 digits by bisection.
    const double half = std::acos(std::pow(0.5, 1.0 / 200)), twenty = std::acos(std::pow(0.5, 1.0 / 20));
    const std::vector<Case> cases{{"2*cos(th - 7)^200 - 1", 20, 14 * half},
                                  {"1/(1 + 25*(th - 7)^2) - 0.5", 20, 0.4},
                                  {"0.05 - (th - 7)^2", 100, 2 * std::sqrt(0.05)},
                                  {"2*cos(th)^20 - 1", 100, 63 * twenty}};
    for (const Case& it : cases)
      for (const double tol : {1e-6, 1e-8, 1e-10, 1e-12}) {
        CAPTURE(it.w);
        CAPTURE(tol);
        const Trajectory run = test::run_located(
            fmt::format("[variables]\nth = 0\nx = 0\n[model]\nequations = [\"der(th) = 1\", \"der(x) = if({} > 0, 1, 0)\"]\n"
                        "[run]\nt = [0, {}]\n",
                        it.w, it.end),
            tol);
        REQUIRE_MESSAGE(run.status == Status::solved, run.message);
        CHECK_FALSE(test::is_captured(run));
        CHECK(std::abs(run.x.back()[1] - it.inside) < 1e-8);
      }
  }

  TEST_CASE("a condition that rises above 0 for a moment fires on both sides, however little that is beside its size") {
    for (const double depth : {1e-2, 1e-4, 1e-6, 1e-8})
      for (const std::string condition : {"sin(t) - 1 + {}", "1 - cosh(t - 7) + {}", "cos(t - 7)^20 - 1 + {}"}) {
        CAPTURE(condition);
        CAPTURE(depth);
        const long touches = condition.starts_with("sin") ? 2 : condition.starts_with("1") ? 1 : 3;
        for (const int direction : {-1, 1}) {
          CAPTURE(direction);
          const Trajectory run = test::run_located(
              fmt::format("[variables]\nn = 0\n[model]\nequations = [\"der(n) = 0\"]\nwhen = [{{condition = \"{}\", "
                          "direction = {}, set = {{n = \"n + 1\"}}}}]\n[run]\nt = [0, 9]\n",
                          fmt::format(fmt::runtime(condition), depth), direction),
              1e-10);
          REQUIRE_MESSAGE(run.status == Status::solved, run.message);
          CHECK(run.x.back()[0] == touches);
        }
      }
  }

  TEST_CASE("a condition that only touches 0, or is a first integral at 0, fires no reset at any tolerance") {
    for (const std::string condition : {"sin(t)^2", "cos(t) - 1", "1 - cosh(t - 7)", "exp(-(t - 7)^2) - 1", "sin(3.14159*t) - 1",
                                        "cos(t - 7)^20 - 1", "sin(t) - 1",
                                        "x^2 + v^2 - 1", "1 - x^2 - v^2"})
      for (const double tol : {1e-6, 1e-8, 1e-10, 1e-12})
        for (const int direction : {-1, 0, 1}) {
          CAPTURE(condition);
          CAPTURE(tol);
          CAPTURE(direction);
          const Trajectory run = test::run_located(
              fmt::format("[variables]\nx = 1\nv = 0\nn = 0\n[model]\nequations = [\"der(x) = v\", \"der(v) = -x\", "
                          "\"der(n) = 0\"]\nwhen = [{{condition = \"{}\", direction = {}, set = {{n = \"n + 1\"}}}}]\n[run]\n"
                          "t = [0, 20]\n",
                          condition, direction),
              tol);
          REQUIRE_MESSAGE(run.status == Status::solved, run.message);
          CHECK(run.x.back()[2] == 0);
        }
  }
}

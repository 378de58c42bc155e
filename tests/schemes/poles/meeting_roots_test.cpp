#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <string>
#include <variant>
#include <vector>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/system_schemes.hpp>
#include <perp/tests/thinned.hpp>

// Points at which two roots of implicit equations meet: several solutions go on, or none, and which one a scheme
// would take is an accident of its steps.

using namespace perp;

namespace {

/// Backward Euler, theta and the located scheme, with rows and without.
std::vector<Trajectory> runs_of(const std::string& variables, const std::string& equations, double end, double h) {
  const Model model = read_model_text(
      fmt::format("[variables]\n{}\n[model]\nequations = [{}]\n[run]\nt = [0, {:.17g}]\n", variables, equations, end),
      "meeting.toml");
  const Span span{0, end};
  return {integrate(model.system, model.x0(), span, BackwardEuler{.h = h}),
          integrate(model.system, model.x0(), span, Theta{.h = h}),
          integrate(model.system, model.x0(), span, Located{.tol = 1e-10}),
          integrate(model.system, model.x0(), span, Located{.tol = 1e-10, .output_step = h})};
}

bool tells_fold(const Trajectory& run) {
  return run.status == Status::not_solved && run.message.find("two roots of the equations") != std::string::npos;
}

}  // namespace

TEST_SUITE("schemes/poles/meeting_roots") {
  TEST_CASE("where a rate is 0 and may be either root no run goes on, in any unit") {
    // x = sin t up to π/2, where x = 1 for a while and then cos is a solution too.
    for (const double unit : {1.0, 0x1p30, 0x1p-30, 1e9, 1e-9})
      for (const double time : {1.0, 0x1p30, 1e-9}) {
        CAPTURE(unit);
        CAPTURE(time);
        const std::string square = fmt::format("({:.17g}*der(x))^2", time);
        const std::string one = fmt::format("{:.17g}", unit * unit);
        for (const std::string& equation : {"\"" + square + " = " + one + " - x^2\"", "\"" + square + " + x*x = " + one + "\""})
          for (const Trajectory& run : runs_of("x = 0", equation, 3 * time, 0.01 * time)) {
            CAPTURE(equation);
            CAPTURE(run.provenance.at("scheme"));
            CHECK_MESSAGE(run.status == Status::not_solved, run.message);
            CHECK(std::abs(run.t.back() / time - std::acos(-1.0) / 2) < 0.08);
            CHECK(std::abs(run.x.back()[0] / unit - 1) < 1e-3);
          }
      }
  }

  TEST_CASE("from a start at which two roots meet no run begins") {
    for (const char* equations : {"\"der(x)^2 = 1 - x^2\"", "\"4*der(x)^2 = 1 - x\""})
      for (const Trajectory& run : runs_of("x = 1", equations, 2, 0.01)) {
        CAPTURE(std::string(equations));
        CHECK_MESSAGE(run.status == Status::not_solved, run.message);
        CHECK(run.t.back() < 1e-6);
      }
  }

  TEST_CASE("the same with the rate as an algebraic variable") {
    for (const Trajectory& run : runs_of("x = 0", "\"der(x)^2 = 1 - x^2\"", 3, 0.01)) {
      const bool by_theta = run.provenance.at("scheme").starts_with("theta");  // passes it, and finds no step a little later
      CHECK_MESSAGE((by_theta ? run.status == Status::not_solved : tells_fold(run)), run.message);
    }
    for (const Trajectory& run : runs_of("x = 0\nz = 1", "\"der(x) = z\", \"z^2 + x^2 = 1\"", 3, 0.01)) {
      CHECK_MESSAGE(tells_fold(run), run.message);
      CHECK(std::abs(run.t.back() - std::acos(-1.0) / 2) < 0.08);
    }
    // x = (1 - t/2)², at 0 from t = 2 on, or up again.
    for (const Trajectory& run : runs_of("x = 1\nz = -1", "\"der(x) = z\", \"z^2 = x\"", 4, 0.013)) {
      CHECK_MESSAGE(run.status == Status::not_solved, run.message);
      CHECK(std::abs(run.t.back() - 2) < 0.2);
    }
  }

  TEST_CASE("a root that is not simple but the only one is passed") {
    // x' = cbrt(sin t): det = 3 x'² does not change its sign; x' = -cbrt(x) comes to 0 at t = 3/2 and stays.
    for (const Trajectory& run : runs_of("x = 0", "\"der(x)^3 = sin(t)\"", 5, 0.01))
      CHECK_MESSAGE(run.status == Status::solved, run.message);
    for (const Trajectory& run : runs_of("x = 1", "\"der(x)^3 = -x\"", 3, 0.01)) {
      CHECK_MESSAGE(run.status == Status::solved, run.message);
      CHECK(std::abs(run.x.back()[0]) < 1e-6);
    }
  }

  TEST_CASE("where two roots touch no run goes on, on whichever of them its steps would land") {
    // z = ±(t - 1) and ±|t - 1|: the determinant 2 z of -|t - 1| and |t - 1| keeps its sign.
    for (const double start : {-1.0, 1.0})
      for (const double h : test::thinned(std::vector{0.25, 0.01, 0.3, 0.013}, 2))
        for (const double unit : test::thinned(std::vector{0x1p30, 1.0, 1e-9}, 3))
          for (const char* equations : {"\"der(x) = z\", \"z^2 = {0:.17g}*(t - 1)^2\"",
                                        "\"der(x) = {1:.17g}\", \"z^2 = (x - {1:.17g})^2\"",
                                        "\"der(x) = w\", \"z^2 + {1:.17g}*w = {0:.17g}*(t - "
                                        "1)^2\", \"w*(1 + 0.1*z/{1:.17g}) = 0\"",
                                        "\"der(x) = z\", \"z^4 = {0:.17g}*(t - 1)^4*{0:.17g}\""}) {
            const std::string text = fmt::format(fmt::runtime(equations), unit * unit, unit);
            CAPTURE(text);
            CAPTURE(h);
            const std::string w = text.find('w') == std::string::npos ? "" : "\nw = 0";
            for (const Trajectory& run :
                 runs_of(fmt::format("x = 0\nz = {:.17g}{}", start * unit, w), text, 3, h)) {
              CAPTURE(run.provenance.at("scheme"));
              CHECK_MESSAGE(run.status == Status::not_solved, run.message);
              CHECK(run.t.back() <= 1.001);
              CHECK(run.t.back() >= 0.99 - h);
            }
          }
  }

  TEST_CASE("a root that no other one touches is passed where its determinant is 0 or nearly so") {
    for (const double h : {0.01, 0.013, 0.25})
      for (const char* equations :
           {"\"der(x) = z\", \"z^3 = (t - 1)^3\"", "\"der(x) = z\", \"z^2 = (t - 1)^2 + 1e-4\""})
        for (const Trajectory& run : runs_of("x = 0\nz = -1", equations, 3, h)) {
          CAPTURE(std::string(equations));
          CAPTURE(h);
          CHECK_MESSAGE(run.status == Status::solved, run.message);
        }
  }

  TEST_CASE("simple roots with others beside them are followed as before") {
    for (const Trajectory& run : runs_of("x = 0", "\"der(x)^2 = 1.01 - sin(t)^2\"", 3, 0.01))
      CHECK_MESSAGE(run.status == Status::solved, run.message);
  }

  TEST_CASE("a law changes before roots of its old branch would meet or have a pole: the run goes on, on its root, split or not") {
    // Within the step that passes the moment c the old branch has a pole at c + lo/slope.
    struct Turn {
      double lo, slope, c;
    };
    for (const auto& [lo, slope, c] : {Turn{0.1, 10, 1.01}, Turn{0.01, 3, 0.95}, Turn{0.001, 1e4, 1.05}})
      for (const int power : {2, 4})
        for (const double side : {1.0, -1.0})
          for (const double offset : {0.0, -2.0})  // y passes 0 on the way of the latter
            for (const char* argument : {"t", "w"})
              for (const bool split : {true, false}) {
                if (!split && slope > 10) continue;  // whole steps have no way from one root to the other there
                const std::string text = fmt::format(
                    "[variables]\ny = {:.17g}\nw = 0\n[model]\nequations = [\"der(w) = 1\", "
                    "\"(y - {})^{}*({} + abs({}*({} - {}))) = 1\"]\n[run]\nt = [0, 2]\n",
                    side * std::pow(lo + slope * c, -1.0 / power) + offset, offset, power, lo, slope, argument, c);
                CAPTURE(text);
                CAPTURE(split);
                const Model model = read_model_text(text, "turn.toml");
                const Trajectory run = integrate(model.system, model.x0(), {0, 2}, BackwardEuler{.h = 0.1, .split_at_events = split});
                CHECK(run.status == Status::solved);
                const double exact = side * std::pow(lo + slope * (2 - c), -1.0 / power) + offset;
                CHECK(std::abs(run.x.back()[0] - exact) <= 1e-9 * (1 + std::abs(offset)));
              }
  }
}

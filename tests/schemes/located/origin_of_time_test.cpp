#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <perp/schemes/capturing/nonlinear_capturing.hpp>
#include <perp/schemes/run/run.hpp>
#include <perp/tests/schemes/located/models.hpp>

using namespace perp;
using perp::test::run_located;

namespace {

struct Shifted {
  const char* name;
  const char* variables;
  const char* equations;  // {0}: the origin of time
  const char* when;
  double length;
};

/// A ball beside a law of time that switches 2 ms before an impact; a mass on a belt; a thermostat
/// beside doses; two clocks, one of time.
const std::vector<Shifted> models{
    {"ball", "x = 1\nv = 0\ns = 0\n",
     R"~("der(x) = v", "der(v) = -10", "der(s) = if(sin(2*pi*(t - {0})/3) > 0.5, 1, 0)")~",
     R"~({{condition = "x", direction = -1, set = {{v = "-0.9*v"}}}})~", 5},
    {"belt", "x = 0.3\nv = 0\np = 0\n",
     R"~("der(x) = v", "der(v) = -x - 0.7*sign(v - 0.25) + 0.5*cos(1.5*p)", "der(p) = 1")~", "", 10},
    {"thermostat", "T = 0\ns = 0\nc = 0\n",
     R"~("der(T) = 1 - 2*if(T > 0.7 + 0.2*sin(s), 1, 0) - 0.1*T", "der(s) = 1", "der(c) = -0.3*c")~",
     R"~({{condition = "s - 0.9", direction = 1, set = {{s = "0", c = "c + 1"}}}})~", 6},
    {"clocks", "p = 0\nn = 0\nm = 0\n", R"~("der(p) = 0.7", "der(n) = 0", "der(m) = 0")~",
     R"~({{condition = "p - 1", direction = 1, set = {{p = "0", n = "n + 1"}}}},
        {{condition = "sin(pi*(t - {0})/3)", direction = 1, set = {{m = "m + 1"}}}})~",
     15},
};

std::string text(const Shifted& model, double origin) {
  const std::string from = fmt::format("{:.17g}", origin);
  const std::string resets =
      *model.when == 0
          ? ""
          : fmt::format("when = [{}]\n", fmt::format(fmt::runtime(model.when), from));
  return fmt::format("[variables]\n{}[model]\nequations = [{}]\n{}[run]\nt = [{}, {:.17g}]\n",
                     model.variables, fmt::format(fmt::runtime(model.equations), from), resets,
                     from, origin + model.length);
}

/// A ball whose bounces accumulate 8.497 after the start.
std::string accumulating(const char* scheme) {
  return fmt::format(
      "[variables]\nx = 1\nv = 0\nn = 0\n[model]\nequations = [\"der(x) = v\", \"der(v) = -10\", "
      "\"der(n) = 0*t\"]\nwhen = [{{condition = \"x\", direction = -1, set = {{v = \"-0.9*v\", "
      "n = \"n + 1\"}}}}]\n[run]\nt = [1.7e9, 1700000010]\nscheme = \"{}\"\n",
      scheme);
}

}  // namespace

TEST_SUITE("schemes/located/origin_of_time") {
  TEST_CASE("where time is counted from changes events by the rounding of t alone") {
    for (const Shifted& model : models)
      for (const double origin : {0x1p20, 0x1p30, 1.7e9}) {
        CAPTURE(std::string(model.name));
        CAPTURE(origin);
        const Trajectory at_0 = run_located(text(model, 0));
        const Trajectory shifted = run_located(text(model, origin));
        REQUIRE_MESSAGE(at_0.status == Status::solved, at_0.message);
        REQUIRE_MESSAGE(shifted.status == Status::solved, shifted.message);
        CHECK_FALSE(perp::test::is_captured(shifted));
        REQUIRE(at_0.events.size() > 4);
        REQUIRE(shifted.events.size() == at_0.events.size());
        // Each event is met up to some ulps, and moves those after it.
        const double ulp = std::numeric_limits<double>::epsilon() * std::abs(origin);
        const double apart = 16.0 * static_cast<double>(at_0.events.size()) * ulp + 1e-9;
        for (std::size_t k = 0; k < at_0.events.size(); ++k) {
          const Event &a = at_0.events[k], &b = shifted.events[k];
          CAPTURE(k);
          CHECK(a.kind == b.kind);
          CHECK(a.law == b.law);
          CHECK(a.to == b.to);
          CHECK(std::abs(b.t - origin - a.t) <= apart);
        }
        CHECK((shifted.x.back() - at_0.x.back()).cwiseAbs().maxCoeff() <= 20 * apart);
      }
  }

  TEST_CASE("bounces shorter than an ulp of t end the run, and the ball stays above the floor") {
    const Trajectory run = run_located(accumulating("located"));
    CHECK(run.status == Status::not_solved);
    CHECK(run.message.find("resets") != std::string::npos);
    CHECK(std::abs(run.t.back() - 1.7e9 - 8.497058314) < 1e-3);
    CHECK(std::abs(run.x.back()[0]) < 1e-6);
  }

  TEST_CASE("backward Euler says that resets accumulate where steps get no shorter than an ulp") {
    const Model model = read_model_text(accumulating("backward_euler"), "a test");
    const Trajectory run = integrate(perp::test::system_of(model), model.x0(), model.run.span,
                                     BackwardEuler{.h = 0.01}, {});
    CHECK(run.status == Status::not_solved);
    CHECK(run.message.find("resets accumulate") != std::string::npos);
    CHECK(std::abs(run.x.back()[0]) < 1e-2);
  }

  TEST_CASE("a run that goes on from beyond a condition that has not fired fires its reset at once") {
    const Model model = read_model_text(
        "[variables]\nx = -1e-3\nv = -1\n[model]\nequations = [\"der(x) = v\", \"der(v) = 0*x\"]\n"
        "when = [{condition = \"x\", direction = -1, set = {v = \"-v\"}}]\n[run]\nt = [0, 1]\n",
        "a test");
    const Dcs system = perp::test::system_of(model);
    for (const int side : {0, 1}) {
      CAPTURE(side);
      NonlinearCapturing capturing(system, {.h = 0.01});
      if (side != 0) capturing.remember_sides({side}, {0, Vector::Zero(2), Vector::Zero(0)});
      const Trajectory run =
          perp::run(capturing, system.laws, model.x0(), model.run.span, 0.01, {}, {});
      CHECK(run.events.size() == static_cast<std::size_t>(side));
      CHECK(run.x.back()[0] == doctest::Approx(side == 0 ? -1.001 : 0.999));
    }
  }

  TEST_CASE("a law that changes at the moment of a reset has its event beside the jump") {
    // A dose lifts T over the upper end of the hysteresis: u = 1 from t = 1 on.
    const Trajectory dose = run_located(
        "[variables]\nT = 0\ns = 0\nE = 0\n[model]\nequations = [\"der(T) = -0.1*T\", \"der(s) = 1\", "
        "\"der(E) = u\"]\nlaws = [\"u in hysteresis(T, 1, 4)\"]\n"
        "when = [{condition = \"s - 1\", direction = 1, set = {T = \"5\"}}]\n[run]\nt = [0, 10]\n");
    REQUIRE_MESSAGE(dose.status == Status::solved, dose.message);
    REQUIRE(dose.events.size() == 2);
    CHECK(dose.events[0].kind == EventKind::jump);
    CHECK(dose.events[1].kind == EventKind::mode_change);
    CHECK(dose.events[1].law == 0);
    CHECK(dose.events[1].t == dose.events[0].t);
    CHECK(dose.events[1].x_before == dose.events[0].x_after);
    CHECK(std::abs(dose.x.back()[2] - 9) < 1e-8);
    // A law that switches by itself where a reset fires.
    const Trajectory both = run_located(
        "[variables]\nx = 0\ns = 0\nn = 0\n[model]\nequations = [\"der(x) = if(s < 1, 1, 2)\", "
        "\"der(s) = 1\", \"der(n) = 0\"]\n"
        "when = [{condition = \"x - 1\", direction = 1, set = {n = \"n + 1\"}}]\n[run]\nt = [0, 3]\n");
    REQUIRE_MESSAGE(both.status == Status::solved, both.message);
    REQUIRE(both.events.size() == 2);
    CHECK(both.events[0].kind == EventKind::jump);
    CHECK(both.events[1].kind == EventKind::crossing);
    CHECK(std::abs(both.x.back()[0] - 5) < 1e-9);
    CHECK(both.x.back()[2] == 1);
  }
}

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <perp/tests/schemes/located/models.hpp>

using namespace perp;
using perp::test::run_located;

namespace {

/// Dry friction on a moving belt: it sticks, slips and turns.
const std::vector<std::string> friction{"der(x) = v",
                                        "der(v) = -x - 0.7*sign(v - 0.25) + 0.5*cos(1.5*t)"};

std::string model(const std::vector<std::string>& variables,
                  const std::vector<std::string>& equations) {
  std::string text = "[variables]\n";
  for (const std::string& variable : variables) text += variable + "\n";
  text += "[model]\nequations = [";
  for (const std::string& equation : equations) text += "\"" + equation + "\", ";
  return text + "]\n[run]\nt = [0, 20]\n";
}

/// Times of the events after which the state has another motion of v: those of the friction law.
std::vector<double> friction_events(const Trajectory& run, const std::string& text) {
  const Model read = read_model_text(text, "friction");
  std::vector<double> times;
  for (const Event& event : run.events)
    if (event.law >= 0 &&
        read.laws()[static_cast<std::size_t>(event.law)].name.find("v") != std::string::npos)
      times.push_back(event.t);
  return times;
}

void check_same_events(const std::string& alone, const std::string& together) {
  const Trajectory a = run_located(alone, 1e-12), b = run_located(together, 1e-12);
  REQUIRE_MESSAGE(a.status == Status::solved, a.message);
  REQUIRE_MESSAGE(b.status == Status::solved, b.message);
  CHECK_FALSE(perp::test::is_captured(b));
  const std::vector<double> wanted = friction_events(a, alone);
  const std::vector<double> found = friction_events(b, together);
  REQUIRE(wanted.size() > 6);
  REQUIRE(found.size() == wanted.size());
  for (std::size_t k = 0; k < wanted.size(); ++k) CHECK(std::abs(found[k] - wanted[k]) < 1e-9);
}

}  // namespace

TEST_SUITE("schemes/located/company") {
  TEST_CASE("a reset out of a bound is led back by a jump, whatever large numbers stand beside it") {
    for (const char* v : {"1", "1e7", "1e12"}) {
      CAPTURE(std::string(v));
      const Trajectory run = run_located(
          fmt::format("[variables]\nx = 1e-3\nv = {0}\n[model]\n"
                      "laws = [\"0 <= s perp 2e-3 - x >= 0\"]\n"
                      "equations = [\"der(x) = 1e-4 - s\", \"der(v) = 0.125*{0}\"]\n"
                      "when = [{{ condition = \"t - 0.5\", direction = 1, set = {{ x = \"x + 1.5e-3\" }} }}]\n"
                      "[run]\nt = [0, 1]\n",
                      v),
          1e-10);
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      CHECK_FALSE(perp::test::is_captured(run));
      CHECK(std::abs(run.x.back()[0] - 2e-3) < 1e-12);
    }
  }

  TEST_CASE("a reset keeps the order of the scheme beside variables that have outgrown their units") {
    // x = e^(13 t) of its own, y' = x - 10 y, and s = 2 u / 0.3 where u > 0; the reset of z moves none of them.
    const Trajectory run = run_located(
        "[variables]\nx = 1\ny = 0\nu = -1\nz = 0\n[model]\nlaws = [\"0 <= s perp 0.3*s - 2*u >= 0\"]\n"
        "equations = [\"der(x) = 13*x\", \"der(y) = x - 10*y\", \"der(u) = 2 + 2*s\", \"der(z) = 1\"]\n"
        "when = [{ condition = \"z - 2.5\", direction = 1, set = { y = \"0\", z = \"0\" } }]\n[run]\nt = [0, 4]\n",
        1e-10);
    REQUIRE_MESSAGE(run.status == Status::solved, run.message);
    CHECK_FALSE(perp::test::is_captured(run));
    const double x = std::exp(13 * 4.0), y = std::exp(13 * 2.5) * (std::exp(13 * 1.5) - std::exp(-10 * 1.5)) / 23;
    const double u = 0.15 * (std::exp(3.5 / 0.075) - 1);
    CHECK(std::abs(run.x.back()[0] / x - 1) < 1e-7);
    CHECK(std::abs(run.x.back()[1] / y - 1) < 1e-7);
    CHECK(std::abs(run.x.back()[2] / u - 1) < 1e-7);
  }

  TEST_CASE("events that no equation connects with a law leave it in its branch, however near its end") {
    // x = -2 e^(-2 t/0.265) comes to 1e-26 with s > 0, beside a ball that rebounds, and a relay that time drives.
    const std::string laws = "laws = [\"0 <= s perp 2*x + 0.265*s >= 0\"]\n", x = "\"der(x) = s\"";
    const std::string ball = "[variables]\nx = -2\ny = 0.7\nv = 0\n[model]\n" + laws + "equations = [" + x +
                             ", \"der(y) = v\", \"der(v) = -9.81\"]\nwhen = [{ condition = \"y\", direction = -1, set = { v = \"-v\" } }]\n";
    const std::string relay = "[variables]\nx = -2\nr = 1\n[model]\n" + laws + "equations = [" + x +
                              ", \"der(r) = -sign(r) + 3*sign(sin(5*t))\"]\n";
    for (const std::string& text : {ball, relay}) {
      CAPTURE(text);
      const Trajectory run = run_located(text + "[run]\nt = [0, 8]\n", 1e-10);
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      CHECK_FALSE(perp::test::is_captured(run));
      CHECK(run.events.size() > 4);
      for (const Event& event : run.events) CHECK(event.law != 0);
      CHECK(std::abs(run.x.back()[0]) < 1e-11);
    }
  }

  TEST_CASE("a run with restitution does not go on by a scheme that has none") {
    // A ball beside equations of index 3, which this scheme leaves to backward Euler.
    const Model model = read_model_text(
        "[variables]\nx = 1\nv = 0\nq = 0.5\np = 0\ns = -0.5\n[model]\n"
        "laws = [\"0 <= x perp f >= 0\"]\nrestitution = { f = 0.5 }\n"
        "equations = [\"der(x) = v\", \"der(v) = -1 + f\", \"der(q) = p\", \"der(p) = s\", "
        "\"0 = q - 0.5*cos(t)\"]\n[run]\nt = [0, 4]\n",
        "a ball in company");
    Located scheme = test::located(model);
    for (const bool rebounds : {false, true}) {
      if (rebounds) scheme.restitution = model.restitution;
      const Trajectory run =
          integrate(test::system_of(model), model.x0(), model.run.span, scheme);
      CHECK(test::is_captured(run) != rebounds);
      CHECK((run.status == Status::solved) != rebounds);
      CHECK(run.size() >= 1);
      CHECK((run.message.find("has no restitution") != std::string::npos) == rebounds);
    }
  }

  TEST_CASE("a ball that drives a relay rebounds in all units of its velocity and of the relay") {
    const auto impacts = [](double v_unit, double x_unit) {
      const Model model = read_model_text(
          fmt::format("[variables]\nq = 1.2\nv = {}\nx = {}\n[model]\nlaws = [\"0 <= q perp f >= 0\", \"S in sign(x*{})\"]\n"
                      "restitution = {{ f = 0.3 }}\nequations = [\"der(q) = v*{}\", \"der(v)*{} = -1 + f\", "
                      "\"der(x)*{} = -S + q\"]\n[run]\nt = [0, 8]\n",
                      1.13 / v_unit, 2 / x_unit, x_unit, v_unit, v_unit, x_unit),
          "a ball that drives a relay");
      Located scheme = test::located(model);
      scheme.restitution = model.restitution;
      const Trajectory run = integrate(test::system_of(model), model.x0(), model.run.span, scheme);
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      return run.counts.at("impacts");
    };
    const long wanted = impacts(1, 1);
    CHECK(wanted > 8);
    CHECK(impacts(0x1p-30, 0x1p30) == wanted);
    CHECK(impacts(0x1p30, 0x1p-30) == wanted);
    CHECK(impacts(1e-9, 1e9) == wanted);
  }

  TEST_CASE("what stands beside a system changes none of its events") {
    const std::string alone = model({"x = 1.25", "v = 0.5"}, friction);
    const auto beside = [&](const std::string& variables, const std::vector<std::string>& more) {
      std::vector<std::string> equations = friction;
      equations.insert(equations.end(), more.begin(), more.end());
      return model({"x = 1.25", "v = 0.5", variables}, equations);
    };
    check_same_events(alone, beside("r = 2", {"der(r) = -sign(r)"}));
    check_same_events(alone, beside("r = 1\nq = 0", {"der(r) = q", "der(q) = -49*r"}));
    check_same_events(alone, beside("r = 1", {"der(r) = -r + sign(sin(3*t))"}));
    check_same_events(alone, beside("r = 1e6", {"der(r) = -1e6*(r - 1e6*cos(t))"}));
    check_same_events(alone, beside("r = 1e-9\nz = 0", {"der(r) = -r", "0 = z + z^3 - 1e9*r"}));
  }

  TEST_CASE("the order of variables and equations changes no event") {
    check_same_events(model({"x = 1.25", "v = 0.5"}, friction),
                      model({"v = 0.5", "x = 1.25"}, {friction[1], friction[0]}));
  }
}

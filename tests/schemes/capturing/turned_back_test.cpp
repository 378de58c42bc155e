#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <string>
#include <vector>

#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>

using namespace perp;

namespace {

/// x moves at the rate v; resets that count in n and m stand on the surface x = wall.
Model on_one_surface(double wall, const std::string& first, const std::string& second, double end) {
  return read_model_text(
      fmt::format("[variables]\nx = 0\nv = 1\nn = 0\nm = 0\n[model]\nequations = [\"der(x) = v\", \"der(v) = 0\", "
                  "\"der(n) = 0\", \"der(m) = 0\"]\nwhen = [{{ condition = \"x > {0}\", set = {{ {1}, n = \"n + 1\" }} }}, "
                  "{{ condition = \"x < {0}\", set = {{ {2}m = \"m + 1\" }} }}]\n[run]\nt = [0, {3}]\n",
                  wall, first, second, end),
      "turned_back.toml");
}

/// The runs of a model by the schemes that are compared here.
std::vector<Trajectory> all_schemes(const Model& model, double h) {
  const Dcs& system = *model.equations;
  return {integrate(system, model.x0(), model.run.span, BackwardEuler{.h = h}),
          integrate(system, model.x0(), model.run.span, Theta{.h = h}),
          integrate(system, model.x0(), model.run.span, Located{.tol = 1e-11})};
}

}  // namespace

TEST_SUITE("schemes/turned_back") {
  TEST_CASE("a reset that turns the motion back on a surface lets no other pass it, wherever the motion before led") {
    for (const double wall : {0.7, 1.0, 0.3})
      for (const char* second : {"", "v = \"-v\", "})
        for (const double h : {0.1, 0.125, 0.03, 0.5, 2.0})
          for (const double theta : {1.0, 0.5}) {
            const Model model = on_one_surface(wall, "v = \"-v\"", second, 2);
            CAPTURE(wall);
            CAPTURE(second);
            CAPTURE(h);
            const Trajectory run =
                integrate(*model.equations, model.x0(), model.run.span, Theta{.h = h, .theta = theta});
            REQUIRE_MESSAGE(run.status == Status::solved, run.message);
            CHECK(run.events.size() == 1);
            CHECK(run.x.back()[0] == doctest::Approx(2 * wall - 2).epsilon(1e-12));
            CHECK(run.x.back()[2] == 1);
            CHECK(run.x.back()[3] == 0);
          }
  }

  TEST_CASE("a reset that lets the motion go on leaves others on its surface armed behind it") {
    // n counts on the way up, where v turns at x = 1.5 on the clock: m counts on the way down.
    const Model model = read_model_text(
        "[variables]\nx = 0\nv = 1\nn = 0\nm = 0\nc = 0\n[model]\nequations = [\"der(x) = v\", \"der(v) = 0\", "
        "\"der(n) = 0\", \"der(m) = 0\", \"der(c) = 1\"]\nwhen = [{ condition = \"x > 1\", set = { n = \"n + 1\" } }, "
        "{ condition = \"x < 1\", set = { m = \"m + 1\" } }, { condition = \"c > 1.5\", set = { v = \"-v\" } }]\n"
        "[run]\nt = [0, 3]\n",
        "passes.toml");
    for (const double h : {0.1, 0.125, 0.03, 0.5}) {
      CAPTURE(h);
      const Trajectory run = integrate(*model.equations, model.x0(), model.run.span, BackwardEuler{.h = h});
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      CHECK(run.x.back()[2] == 1);
      CHECK(run.x.back()[3] == 1);
    }
  }

  TEST_CASE("a law with memory that turns the motion on the surface of a reset lets it not pass, in every scheme") {
    const Model model = read_model_text(
        "[variables]\nx = 0\nn = 0\n[model]\nequations = [\"der(x) = 1 - 2*hy\", \"der(n) = 0\"]\n"
        "laws = [\"hy in hysteresis(x, -1, 1)\"]\n"
        "when = [{ condition = \"x - 1\", direction = 1, set = { x = \"0\", n = \"n + 1\" } }]\n[run]\nt = [0, 4]\n",
        "turned_by_law.toml");
    for (const double h : {0.125, 0.1, 0.37})
      for (const Trajectory& run : all_schemes(model, h)) {
        CAPTURE(h);
        REQUIRE_MESSAGE(run.status == Status::solved, run.message);
        CHECK(run.x.back()[1] == 0);
        CHECK(std::abs(run.x.back()[0]) < 1e-9);  // up to 1, down to -1, up to 0
        CHECK(run.events.size() == 2);
      }
  }

  TEST_CASE("a law with memory on the surface of a reset changes first and remembers it, whatever the reset does") {
    const Model model = read_model_text(
        "[variables]\nx = 0\ng = 1\ny = 0\n[model]\nequations = [\"der(x) = g\", \"der(g) = 0\", \"der(y) = hy\"]\n"
        "laws = [\"hy in hysteresis(x, -1, 1)\"]\n"
        "when = [{ condition = \"x - 1\", direction = 1, set = { g = \"-g\" } }]\n[run]\nt = [0, 2]\n",
        "remembers.toml");
    for (const double h : {0.125, 0.1, 0.37, 2.0})
      for (const Trajectory& run : all_schemes(model, h)) {
        CAPTURE(h);
        REQUIRE_MESSAGE(run.status == Status::solved, run.message);
        CHECK(std::abs(run.x.back()[0]) < 1e-9);
        CHECK(std::abs(run.x.back()[2] - 1) < 1e-9);  // high since x was 1 at t = 1
        REQUIRE(run.events.size() == 2);
        CHECK(run.events[0].kind == EventKind::mode_change);
        CHECK(run.events[1].kind == EventKind::jump);
      }
  }

  TEST_CASE("a relay that holds the motion on the surface of a reset lets it not pass, and a kink does") {
    for (const bool is_held : {true, false}) {
      const Model model = read_model_text(
          fmt::format("[variables]\nx = 0\nn = 0\n[model]\nequations = [\"der(x) = 1 - {}*sign(x - 0.7)\", \"der(n) = 0\"]\n"
                      "when = [{{ condition = \"x - 0.7\", set = {{ n = \"n + 1\" }} }}]\n[run]\nt = [0, 2]\n",
                      is_held ? 2 : 0.5),
          "held.toml");
      for (const double h : {0.125, 0.1, 0.37})
        for (const Trajectory& run : all_schemes(model, h)) {
          CAPTURE(h);
          REQUIRE_MESSAGE(run.status == Status::solved, run.message);
          CHECK(run.x.back()[1] == (is_held ? 0 : 1));
        }
    }
  }

  TEST_CASE("a condition that a law keeps from passing is looked for from there on, not from before the law changed") {
    // x is up at 0.3 at 0.6, turns at 0.5 and falls through 0.3 at 1.09: n counts the way up alone, g is never turned.
    const Model model = read_model_text(
        "[variables]\nx = -0.3\ng = 1\nn = 0\n[model]\nequations = [\"der(x) = g - 1.7*hy\", \"der(g) = 0\", \"der(n) = 0\"]\n"
        "laws = [\"hy in hysteresis(x, -1, 0.5)\"]\n"
        "when = [{ condition = \"-(x - 0.3)\", direction = -1, set = { n = \"n + 1\" } }, "
        "{ condition = \"2*(x - 0.5)\", set = { g = \"-g\" } }]\n[run]\nt = [0, 4.03]\n",
        "kept_from_passing.toml");
    for (const double h : {0.125, 0.1, 0.37})
      for (const Trajectory& run : all_schemes(model, h)) {
        CAPTURE(h);
        REQUIRE_MESSAGE(run.status == Status::solved, run.message);
        CHECK(run.x.back()[1] == 1);
        CHECK(run.x.back()[2] == 1);
        CHECK(run.events.size() == 3);
      }
  }
}

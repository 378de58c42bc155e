#include <doctest/doctest.h>
#include <fmt/format.h>
#include <string>

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
}

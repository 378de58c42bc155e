#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <string>
#include <utility>

#include <perp/models/language/read_model.hpp>
#include <perp/tests/run_by_name.hpp>

using namespace perp;

TEST_SUITE("schemes/reset_chains") {
  // One inflow for two tanks, which is switched to the one that has run empty: the times between are shorter by 2/3 each time, and both are
  // empty at t = 10.
  TEST_CASE("resets that lead each other's conditions on at one moment accumulate there, whatever rounding leaves of the levels") {
    const Model model = read_model_text(R"toml(
[variables]
a = 1
b = 1
q = -1
[model]
equations = ["der(a) = if(q > 0, 1, 0) - 0.6", "der(b) = if(q > 0, 0, 1) - 0.6", "der(q) = 0"]
when = [
  { condition = "a", direction = -1, set = { q = "1" }, name = "A" },
  { condition = "b", direction = -1, set = { q = "-1" }, name = "B" },
]
[run]
t = [0, 12]
)toml",
                                        "two_tanks.toml");
    for (const double h : {0.01, 0.1, 0.037, 1.0 / 64, 0.3}) {
      CAPTURE(h);
      const Trajectory run = test::run_by_name(model, "backward_euler", h);
      CHECK(run.status == Status::not_solved);
      CHECK(run.message.find("accumulate") != std::string::npos);
      CHECK(std::abs(run.t.back() - 10) < 1e-9);
    }
  }

  // A ball on a floor whose height is rounded: it rises at last by less than that, and would be told to fall.
  TEST_CASE("a ball does not fall through a floor at any height where it comes to rest") {
    for (const double floor : {0.0, 0.077, 0.77, -7.7, 77.0})
      for (const double h : {0.0003, 0.01}) {
        CAPTURE(floor);
        CAPTURE(h);
        const Model model = read_model_text(
            fmt::format("[variables]\ny = {}\nv = 0\n[model]\nequations = [\"der(y) = v\", \"der(v) = -2\"]\n"
                        "when = [{{ condition = \"y - ({})\", direction = -1, set = {{ v = \"-0.5*v\" }} }}]\n"
                        "[run]\nt = [0, 2.5]\n",
                        floor + 0.3, floor),
            "ball.toml");
        const Trajectory run = test::run_by_name(model, "backward_euler", h);
        CHECK(run.status == Status::not_solved);
        CHECK(run.t.back() < 1.7);
        for (const Vector& x : run.x) CHECK(x[0] > floor - 1e-10 * (1 + std::abs(floor)));
      }
  }

  // Both flow out at the rate c, in all 2 c − 1 is missing: they are empty at t = 2/(2 c − 1). The times between events are shorter by (1 − c)/c each time.
  TEST_CASE("resets that accumulate with a law that they switch, and within six events, end a run of every scheme") {
    for (const double c : {0.55, 0.6, 0.9, 0.999})
      for (const char* unit : {"1", "1e6", "1/1024"}) {
        CAPTURE(c);
        CAPTURE(unit);
        const double end = 2 / (2 * c - 1);
        const Model model = read_model_text(
            fmt::format("[variables]\na = \"{0}\"\nb = \"{0}\"\nq = -1\n[model]\nequations = [\"der(a) = ({0})*(if(q > 0, 1, 0) - {1})\", "
                        "\"der(b) = ({0})*(if(q > 0, 0, 1) - {1})\", \"der(q) = 0\"]\nwhen = [{{ condition = \"a\", direction = -1, set = {{ q = "
                        "\"1\" }} }}, {{ condition = \"b\", direction = -1, set = {{ q = \"-1\" }} }}]\n[run]\nt = [0, {2}]\n",
                        unit, c, 1.3 * end),
            "two_tanks.toml");
        for (const char* scheme : {"backward_euler", "located"}) {
          CAPTURE(scheme);
          const Trajectory run = test::run_by_name(model, scheme, end / 500);
          CHECK(run.status == Status::not_solved);
          CHECK(run.message.find("accumulate") != std::string::npos);
          CHECK(std::abs(run.t.back() - end) < 2e-5 * end);
        }
      }
  }

  // Sawteeth x (from 0 to 1) and y (from 0 to 3/7) that throw each other back come to their ends together, k times: exact.
  TEST_CASE("resets that set what each other's conditions read fire together, whatever the steps have rounded, in any order and unit") {
    const auto sawteeth = [](const std::string& unit, const std::string& x, const std::string& y) {
      const std::string level = fmt::format("3/7*({})", unit);
      const auto reset = [](const std::string& condition, const std::string& sets) {
        return fmt::format("{{ condition = \"{}\", direction = 1, set = {{ {} }} }}", condition, sets);
      };
      const std::string first = reset("x - 1", fmt::format("y = \"{}\", k = \"k + 1\"", y.empty() ? "y - " + level : y));
      const std::string second = reset("y - " + level, fmt::format("x = \"{}\", n = \"n + 1\"", x));
      const auto text = [&](const std::string& resets) {
        return fmt::format("[variables]\nx = 0\ny = 0\nk = 0\nn = 0\n[model]\nequations = [\"der(x) = 7\", \"der(y) = 3*({})\", "
                           "\"der(k) = 0\", \"der(n) = 0\"]\nwhen = [{}]\n[run]\nt = [0, 28.6]\n",
                           unit, resets);
      };
      return std::pair{text(first + ", " + second), text(second + ", " + first)};
    };
    for (const std::string unit : {"1", "1e6", "1/1024", "1e-9"})
      for (const auto& [x, y] : {std::pair<std::string, std::string>{"x - 1", ""}, {"0", "0"}, {"0", ""}}) {
        const auto [one, other] = sawteeth(unit, x, y);
        for (const std::string& text : {one, other})
          for (const auto& [scheme, h] : {std::pair{"backward_euler", 1.0 / 700}, {"backward_euler", 0.013 / 7}, {"backward_euler", 0.03125},
                                          {"theta", 1.0 / 350}, {"located", 0.1}}) {
            CAPTURE(text);
            CAPTURE(scheme);
            CAPTURE(h);
            const Trajectory run = test::run_by_name(read_model_text(text, "sawteeth.toml"), scheme, h);
            REQUIRE(run.status == Status::solved);
            CHECK(run.x.back()[2] == 200);
            CHECK(run.x.back()[3] == 200);
            CHECK(std::abs(run.x.back()[0] - 0.2) < 1e-9);
          }
      }
  }
}

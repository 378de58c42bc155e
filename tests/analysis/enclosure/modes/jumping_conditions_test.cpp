// Resets whose condition jumps with a law, against exact solutions.
#include <doctest/doctest.h>
#include <algorithm>
#include <string>

#include <perp/analysis/enclosure/exact_model.hpp>

using namespace perp;
using enclosure::Enclosure;
using enclosure::Flag;
using enclosure::Interval;
using enclosure::width;

namespace {

/// x rises from its start with rate 1; n and m are set by resets.
Enclosure run(const std::string& x, const std::string& resets, const std::string& laws = "\"L in step(x)\"",
              const std::string& end = "2") {
  return enclosure::read_exact_model("[variables]\nx = \"" + x +
                                         "\"\nn = 0\nm = 0\nu = 0\n[model]\n"
                                         "equations = [\"der(x) = 1\", \"der(n) = 0\", \"der(m) = 0\", \"u = 2*L\"]\n"
                                         "laws = [" + laws + "]\nwhen = [" + resets + "]\n[run]\nt = [0, " + end + "]\n",
                                     "jumping.toml")
      .enclose({});
}

std::string reset(const std::string& condition, int direction, const std::string& set) {
  return "{ condition = \"" + condition + "\", direction = " + std::to_string(direction) + ", set = { " + set + " } },";
}

auto jumps(const Enclosure& result) {
  return std::count_if(result.events.begin(), result.events.end(), [](const auto& event) { return event.reset >= 0; });
}

Interval last(const Enclosure& result, std::size_t variable) { return result.rows.back().box[variable]; }

}  // namespace

TEST_SUITE("analysis/enclosure/modes/jumping_conditions") {
  TEST_CASE("a reset fires where a law takes its condition over 0, with the values behind the law") {
    for (const char* start : {"-1", "[-1.01, -0.99]"})
      for (const char* condition : {"L - 0.5", "u - 1", "2*L - 1 + x/10", "L*(x + 3) - 0.25"})
        for (const int direction : {0, 1}) {
          CAPTURE(start);
          CAPTURE(condition);
          const Enclosure result = run(start, reset(condition, direction, "n = \"n + 1 + 10*L + x\""));
          REQUIRE_FALSE(result.lost.has_value());
          CHECK(result.rows.back().flag == Flag::unique);
          CHECK(last(result, 1).contains(11));
          CHECK(width(last(result, 1)) <= 1e-14);
          CHECK(jumps(result) == 1);
        }
  }

  TEST_CASE("a law that takes a condition over 0 against its direction fires nothing, and arms the reset") {
    const Enclosure once = run("-1", reset("0.5 - L", 1, "n = \"n + 1\""));
    REQUIRE_FALSE(once.lost.has_value());
    CHECK(last(once, 1) == Interval(0));
    CHECK(jumps(once) == 0);
    // 0.5 - L falls at t = 1 and rises at t = 1.5
    const Enclosure armed = run("-1", reset("0.5 - L", 1, "n = \"n + 1\""), "\"L in step(0.25 - abs(x - 0.25))\"");
    REQUIRE_FALSE(armed.lost.has_value());
    CHECK(last(armed, 1) == Interval(1));
  }

  TEST_CASE("what a reset keeps of a state moves with the event as the state does before the law switches") {
    // p rises by 5 before the law switches at t* in [0.99, 1.01] and by 1 behind it; n keeps p(t*) = 5 t*.
    const Enclosure result = enclosure::read_exact_model(R"toml(
      [variables]
      x = "[-1.01, -0.99]"
      p = 0
      n = 0
      [model]
      equations = ["der(x) = 1", "der(p) = 5 - 4*L", "der(n) = 0"]
      laws = ["L in step(x)"]
      when = [{ condition = "L - 0.5", direction = 1, set = { n = "p" } }]
      [run]
      t = [0, 2]
    )toml", "kept.toml").enclose({});
    REQUIRE_FALSE(result.lost.has_value());
    CHECK(last(result, 2).contains(Interval(4.95000001, 5.04999999)));
    CHECK(width(last(result, 2)) <= 0.1000001);
  }

  TEST_CASE("resets of one law fire in declared order with the values before them") {
    const Enclosure result = run("-1", reset("L - 0.5", 1, "n = \"n + 1 + 10*L\"") +
                                           reset("L - 0.7", 1, "n = \"n + 100\", m = \"n + 7\""));
    REQUIRE_FALSE(result.lost.has_value());
    CHECK(last(result, 1) == Interval(100));
    CHECK(last(result, 2) == Interval(7));
    CHECK(jumps(result) == 2);
  }

  TEST_CASE("the branches of laws are chosen again behind a reset that a law has made fire") {
    for (const char* start : {"-1", "[-1.125, -0.875]"}) {
      const Enclosure result = run(start, reset("L - 0.5", 1, "x = \"x - 1\", n = \"n + 1\""), "\"L in step(x)\"", "3.5");
      REQUIRE_FALSE(result.lost.has_value());
      CHECK(last(result, 1) == Interval(3));
      CHECK(last(result, 0).contains(-0.5));
      CHECK(result.rows.back().multipliers[0] == Interval(0));
    }
  }

  TEST_CASE("each member is reset at its own time, with its own speed") {
    // x' = 1 + n, n = y² behind the event: x(2) = (2 - t)(1 + y²), t = -x(0)
    const Enclosure result = enclosure::read_exact_model(R"toml(
[variables]
x = "[-1.03125, -0.96875]"
y = "[0.5, 0.53125]"
n = 0
[model]
equations = ["der(x) = 1 + n", "der(n) = 0", "der(y) = 0"]
laws = ["L in step(x)"]
when = [{ condition = "L - 0.5", direction = 1, set = { n = "y^2" } }]
[run]
t = [0, 2]
)toml", "own.toml").enclose({});
    REQUIRE_FALSE(result.lost.has_value());
    for (const double x : {-1.03125, -1.0, -0.96875})
      for (const double y : {0.5, 0.53125}) CHECK(last(result, 0).contains((2 + x) * (1 + y * y)));
    CHECK(width(last(result, 0)) <= 0.2);
  }
}

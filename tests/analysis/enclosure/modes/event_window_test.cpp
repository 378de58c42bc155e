#include <doctest/doctest.h>
#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <random>
#include <string>
#include <vector>

#include <perp/analysis/enclosure/exact_model.hpp>
#include <perp/tests/thinned.hpp>

using namespace perp;
using enclosure::Box;
using enclosure::EncloseOptions;
using enclosure::Enclosure;
using enclosure::Flag;
using enclosure::Interval;
using BigRational = boost::multiprecision::cpp_rational;

namespace {

enclosure::ExactModel model(const std::string& text) {
  return enclosure::read_exact_model(text, "test.toml");
}

bool holds(const Interval& a, const BigRational& x) {
  return BigRational(a.lo) <= x && x <= BigRational(a.hi);
}

Enclosure run(const std::string& text, EncloseOptions options) {
  const enclosure::ExactModel read = model(text);
  return read.enclose(options);
}

}  // namespace

TEST_SUITE("analysis/enclosure/modes/event_window") {
  // x' = 1 until x = y/4, then x' = 3/2, y' = 1/2 before and −1 after: piecewise linear maps of
  // wide sets, members by rational arithmetic, at low order, in one piece.
  TEST_CASE("members of wide sets cross in their own time, exactly") {
    const auto read = model(R"toml(
[variables]
x = "[-1.125, -0.875]"
y = "[0.75, 1.25]"
[model]
equations = ["der(x) = 1.25 + 0.25*sign(x - y/4)", "der(y) = -0.25 - 0.75*sign(x - y/4)"]
[run]
t = [0, 4]
)toml");
    for (const int order : {2, 3, 8}) {
      EncloseOptions options;
      options.step.order = order;
      options.times = {0.5, 1, 1.25, 1.5, 2, 4};
      options.pieces = 1;
      const Enclosure result = read.enclose(options);
      REQUIRE_FALSE(result.lost.has_value());
      REQUIRE(result.rows.size() == options.times.size());
      REQUIRE(result.events.size() == 1);
      CHECK(result.events[0].unique);
      CHECK(result.events[0].type == "crossing");
      for (int k = 0; k < 81; ++k) {
        const BigRational x0 = BigRational(-9, 8) + BigRational(k % 9, 32),
                       y0 = BigRational(3, 4) + BigRational(k / 9, 16);
        // x − y/4 grows by 7/8 before and by 7/4 after the event
        const BigRational event = (y0 / 4 - x0) / BigRational(7, 8);
        CHECK(holds(result.events[0].t, event));
        for (const auto& row : result.rows) {
          const BigRational t(row.t), after = t > event ? t - event : BigRational(0), before = t - after;
          CHECK(holds(row.box[0], x0 + before + after * BigRational(3, 2)));
          CHECK(holds(row.box[1], y0 + before / 2 - after));
          CHECK(row.flag == Flag::unique);
        }
      }
      CHECK(enclosure::width(result.rows.back().box[0]) < 0.75);
    }
  }

  // y' = 1 + x: x = sin t turns the set while it crosses y = 0; the exact map is smooth but for the
  // jump of x' at the surface. Corners and edges by closed form.
  TEST_CASE("members of a turning set lie in its rows after a crossing with a jump of the rates") {
    const auto read = model(R"toml(
[parameters]
a = "[0.375, 0.625]"
[variables]
x = "[-0.75, -0.25]"
[model]
equations = ["der(x) = 1 + a*step(x)*x"]
[run]
t = [0, 2]
)toml");
    for (const int order : test::thinned(std::vector{12, 6, 3}, 3)) {
      EncloseOptions options;
      options.step.order = order;
      options.times = {0.25, 0.5, 0.625, 0.75, 1, 2};
      options.pieces = 1;
      options.tube = true;
      const Enclosure result = read.enclose(options);
      REQUIRE_FALSE(result.lost.has_value());
      for (int k = 0; k < 25; ++k) {
        const double a = 0.375 + 0.0625 * (k % 5), x0 = -0.75 + 0.125 * (k / 5);
        for (const auto& row : result.rows) {
          const Interval after = Interval(row.t) - Interval(-x0);
          const Interval x = row.t <= -x0 ? Interval(x0) + Interval(row.t)
                                          : (exp(Interval(a) * after) - Interval(1)) / Interval(a);
          CHECK(intersection(row.box[0], x).has_value());
          bool in_tube = false;
          for (const auto& piece : result.tube)
            in_tube = in_tube || (piece.from <= row.t && row.t <= piece.to &&
                                  intersection(piece.box[0], x).has_value());
          CHECK(in_tube);
        }
      }
    }
  }

  TEST_CASE("sliding begins and ends at surfaces, each member in its own time") {
    // slides on x = 0 from t = −x0 until y = 1, where the relay is too weak
    const auto read = model(R"toml(
[variables]
x = "[-0.625, -0.375]"
y = 0
[model]
equations = ["der(x) = y - sign(x)", "der(y) = 0.5"]
[run]
t = [0, 3]
)toml");
    EncloseOptions options;
    options.times = {0.25, 1, 1.5, 2, 2.5, 3};
    const Enclosure result = read.enclose(options);
    REQUIRE_FALSE(result.lost.has_value());
    REQUIRE(result.events.size() >= 2);
    CHECK(result.events[0].type == "sliding_entry");
    CHECK(result.events[1].type == "sliding_exit");
    CHECK(result.events[1].t.contains(2.0));
    CHECK(enclosure::width(result.events[1].t) < 1e-12);
    CHECK(result.rows[1].box[0] == Interval(0));
    CHECK(result.rows[2].box[0] == Interval(0));
    CHECK(result.rows[2].multipliers[0].contains(0.75));
    CHECK(result.rows.back().box[0].contains(0.25));  // (t − 2)²/4
    CHECK(enclosure::width(result.rows.back().box[0]) < 1e-12);
  }

  TEST_CASE("resets: each member is thrown back with its own speed") {
    const auto read = model(R"toml(
[variables]
x = "[0.875, 1.125]"
v = "[-1.0625, -0.9375]"
[model]
equations = ["der(x) = v", "der(v) = 0"]
when = [{ condition = "x", direction = -1, set = { v = "-v/2" }, name = "impact" }]
[run]
t = [0, 3]
)toml");
    EncloseOptions options;
    // some members have been thrown back at 0.9375, some not yet at 1.0625 and 1.125
    options.times = {0.5, 0.9375, 1, 1.0625, 1.125, 2, 3};
    options.pieces = 1;
    options.tube = true;
    const Enclosure result = read.enclose(options);
    REQUIRE_FALSE(result.lost.has_value());
    REQUIRE(result.rows.size() == options.times.size());
    REQUIRE(result.events.size() == 1);
    CHECK(result.events[0].type == "jump");
    for (int k = 0; k < 25; ++k) {
      const BigRational x0 = BigRational(7, 8) + BigRational(k % 5, 16),
                     v0 = BigRational(-17, 16) + BigRational(k / 5, 32);
      const BigRational event = -x0 / v0;
      CHECK(holds(result.events[0].t, event));
      for (const auto& row : result.rows) {
        const BigRational t(row.t);
        const BigRational x = t <= event ? BigRational(x0 + v0 * t) : BigRational(-v0 / 2 * (t - event));
        const BigRational v = t <= event ? v0 : BigRational(-v0 / 2);
        CHECK(holds(row.box[0], x));
        CHECK(holds(row.box[1], v));
        CHECK(std::any_of(result.tube.begin(), result.tube.end(), [&](const auto& piece) {
          return piece.from <= row.t && row.t <= piece.to && holds(piece.box[0], x) &&
                 holds(piece.box[1], v);
        }));
      }
    }
    CHECK(enclosure::width(result.rows.back().box[0]) < 0.45);
  }

  TEST_CASE("a condition that comes back to its armed side fires nothing") {
    const std::string text = R"toml(
[variables]
x = 0
v = 1
[model]
equations = ["der(x) = v", "der(v) = 0"]
when = [{ condition = "x - 1", direction = -1, set = { v = "-v" }, name = "turn" }]
[run]
t = [0, 3]
)toml";
    const Enclosure result = run(text, {});
    REQUIRE_FALSE(result.lost.has_value());
    CHECK(result.events.empty());
    CHECK(result.rows.back().box[0] == Interval(3));
  }

  TEST_CASE("switches of time alone are passed, on output times too") {
    const std::string text = R"toml(
[variables]
x = 0
[model]
equations = ["der(x) = sign(t - 1)"]
[run]
t = [0, 3]
)toml";
    EncloseOptions options;
    options.times = {0, 1, 2, 3};
    const Enclosure result = run(text, options);
    REQUIRE_FALSE(result.lost.has_value());
    REQUIRE(result.events.size() == 1);
    CHECK(result.events[0].t == Interval(1));
    CHECK(result.rows[1].box[0] == Interval(-1));
    CHECK(result.rows[3].box[0] == Interval(1));
  }

  TEST_CASE("what is not proved is not claimed unique") {
    const auto any_is_unique = [](const Enclosure& result, double after) {
      return std::any_of(result.rows.begin(), result.rows.end(), [&](const auto& row) {
        return row.t > after && row.flag == enclosure::Flag::unique;
      });
    };
    EncloseOptions few;
    few.pieces = 16;
    // touches x = 1/2 at t = 1
    const Enclosure touch = run(R"toml(
[variables]
x = 0
v = 1
y = 0
[model]
equations = ["der(x) = v", "der(v) = -1", "der(y) = step(x - 0.5)"]
[run]
t = [0, 2]
)toml",
                                few);
    REQUIRE_FALSE(touch.lost.has_value());
    CHECK_FALSE(any_is_unique(touch, 1));
    CHECK(touch.rows.back().box[2].contains(0.0));
    // a surface that repels on both sides, reached exactly
    const Enclosure repelled = run(R"toml(
[variables]
x = "[-0.125, 0.125]"
[model]
equations = ["der(x) = sign(x)"]
[run]
t = [0, 1]
)toml",
                                   few);
    REQUIRE_FALSE(repelled.lost.has_value());
    for (const double x : {-1.125, -1.0, -0.5, 0.0, 1.0, 1.125})
      CHECK(std::any_of(repelled.rows.begin(), repelled.rows.end(),
                        [x](const auto& row) { return row.t == 1 && row.box[0].contains(x); }));
    CHECK_FALSE(std::all_of(repelled.rows.begin(), repelled.rows.end(), [](const auto& row) {
      return row.t == 0 || row.flag == enclosure::Flag::unique;
    }));
    // attractive or not: the parameter does not tell, but of each value the solution is unique
    const Enclosure weak = run(R"toml(
[parameters]
e = "[-0.0625, 0.0625]"
[variables]
x = -1
[model]
equations = ["der(x) = if(x > 0, -e, 1)"]
[run]
t = [0, 2]
)toml",
                               few);
    REQUIRE_FALSE(weak.lost.has_value());
    CHECK(std::any_of(weak.rows.begin(), weak.rows.end(), [](const auto& row) {
      return row.t == 2 && row.flag == enclosure::Flag::unique && row.box[0].contains(0.0);
    }));
  }

  TEST_CASE("where one of several branches is lost rows end before those that were not followed") {
    // x1 = −t, and x1 = 0 until t = 4, (t − 4)/3 later; one of them touches a condition
    for (const char* touched : {"0.25", "-2"}) {
      EncloseOptions options;
      for (int k = 0; k <= 32; ++k) options.times.push_back(k * 0.25);
      std::string text = R"toml(
[parameters]
B1 = -1
B2 = 0.5
[variables]
x1 = 0
x2 = -1
z = 0
[model]
equations = ["der(x1) = 1 + B1*z", "der(x2) = B2*z", "x2 = abs(x1) + sign(x1)"]
when = [{ condition = "(x1 - (TOUCHED))^2", direction = -1, set = { x2 = "x2" } }]
[run]
t = [0, 8]
)toml";
      text.replace(text.find("TOUCHED"), 7, touched);
      const Enclosure result = run(text, options);
      REQUIRE(result.lost.has_value());
      for (const double t : options.times) {
        if (t == 0) continue;
        const auto holds = [&](double x1) {
          return std::any_of(result.rows.begin(), result.rows.end(), [&](const auto& row) {
            return row.t == t && row.box[0].lo - 1e-12 <= x1 && x1 <= row.box[0].hi + 1e-12;
          });
        };
        const bool any = std::any_of(result.rows.begin(), result.rows.end(),
                                     [t](const auto& row) { return row.t == t; });
        CAPTURE(touched);
        CAPTURE(t);
        if (any) CHECK(holds(-t));
        if (any) CHECK(holds(std::max(0.0, (t - 4) / 3)));
      }
    }
  }

  TEST_CASE("a surface that repels is no list of branches: solutions leave it at any time") {
    const Enclosure result = run(R"toml(
[variables]
x = 0
[model]
equations = ["der(x) = sign(x)"]
[run]
t = [0, 1]
)toml",
                                 {});
    REQUIRE_FALSE(result.lost.has_value());
    REQUIRE(result.rows.size() == 2);
    CHECK(result.rows.back().flag == enclosure::Flag::all);
    CHECK(result.rows.back().box[0].contains(Interval(-1, 1)));
    CHECK(width(result.rows.back().box[0]) < 2.0001);
  }

  TEST_CASE("a reset that changes its own condition is armed by the side it is thrown to") {
    // sawtooth: x rises to 1 and is set to 0; each tooth takes one unit of time
    EncloseOptions options;
    options.times = {0.5, 1.5, 2.5, 3.25};
    const Enclosure result = run(R"toml(
[variables]
x = 0
[model]
equations = ["der(x) = 1"]
when = [{ condition = "x - 1", direction = 1, set = { x = "0" }, name = "reset" }]
[run]
t = [0, 3.5]
)toml",
                                 options);
    REQUIRE_FALSE(result.lost.has_value());
    REQUIRE(result.events.size() == 3);
    for (int k = 0; k < 3; ++k)
      CHECK(result.events[static_cast<std::size_t>(k)].t == Interval(k + 1));
    CHECK(result.rows[2].box[0] == Interval(0.5));
    CHECK(result.rows[3].box[0] == Interval(0.25));
  }

  TEST_CASE("laws whose multipliers are not unique prove nothing") {
    // λ ∈ sign(x + 2 λ): three values of λ wherever |x| < 2
    const Enclosure loop = run(R"toml(
[variables]
x = 3
z = 0
[model]
equations = ["der(x) = -1 + 0*z", "z = x + 2*sign(z)"]
[run]
t = [0, 2]
)toml",
                               {});
    CHECK(loop.lost.has_value());
    // an argument by way of an algebraic variable is one of states
    const Enclosure through = run(R"toml(
[variables]
x = 3
z = 0
[model]
equations = ["der(x) = -2 - sign(z)", "z = x - 0.5"]
[run]
t = [0, 1]
)toml",
                                  {});
    REQUIRE_FALSE(through.lost.has_value());
    REQUIRE(through.events.size() == 1);
    CHECK(intersection(through.rows.back().box[0],
                       Interval(0.5) - (Interval(1) - Interval(2.5) / Interval(3)))
              .has_value());
  }
}

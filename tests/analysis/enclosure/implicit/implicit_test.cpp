#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <perp/analysis/enclosure/exact_model.hpp>

using namespace perp;
using enclosure::EncloseOptions;
using enclosure::Enclosure;
using enclosure::Flag;
using enclosure::Interval;

namespace {

Enclosure run(const std::string& variables, const std::string& model, double end,
              std::vector<double> times) {
  EncloseOptions options;
  options.times = std::move(times);
  const std::string text = "[variables]\n" + variables + "\n[model]\n" + model +
                           "\n[run]\nt = [0, " + std::to_string(end) + "]\n";
  return enclosure::read_exact_model(text, "test.toml").enclose(options);
}

bool is_unique(const Enclosure& result) {
  return !result.lost && std::all_of(result.rows.begin(), result.rows.end(),
                                     [](const auto& row) { return row.flag == Flag::unique; });
}

std::string reason(const Enclosure& result) { return result.lost ? result.lost->reason : ""; }

bool meet(const Interval& a, const Interval& b) { return intersection(a, b).has_value(); }

/// May the point be in the set at all times? Bounds of both are true of it, to rounding.
bool holds(const Enclosure& set, const Enclosure& point) {
  if (set.rows.size() != point.rows.size()) return false;
  for (std::size_t k = 0; k < set.rows.size(); ++k)
    for (std::size_t i = 0; i < set.rows[k].box.size(); ++i)
      if (!meet(set.rows[k].box[i], point.rows[k].box[i])) return false;
  return true;
}

}  // namespace

TEST_SUITE("analysis/enclosure/implicit") {
  TEST_CASE(
      "an algebraic variable that no formula gives: the first integral of y + y^3 = x, x' = -y") {
    // (1 + 3 y²) y' = −y:  log y + 3/2 y² + t is constant
    const Enclosure result =
        run("x = 2\ny = 0.7", "equations = [\"der(x) = -y\", \"y + y^3 = x\"]", 4, {0, 1, 2, 4});
    REQUIRE(is_unique(result));
    for (const auto& row : result.rows) {
      const Interval y = row.box[1];
      CHECK((log(y) + Interval(1.5) * square(y) + Interval(row.t) - Interval(1.5)).contains(0.0));
      CHECK((y + y * square(y) - row.box[0]).contains(0.0));
      CHECK(enclosure::width(y) < 1e-14);
    }
  }

  TEST_CASE("of several roots the one of the start is followed") {
    for (const double side : {1.0, -1.0}) {
      const Enclosure result = run("x = 3\ny = " + std::to_string(side),
                                   "equations = [\"der(x) = 0.5\", \"y^2 = x + 1\"]", 2, {2});
      REQUIRE(is_unique(result));
      CHECK(meet(result.rows[0].box[1], Interval(side) * sqrt(Interval(5))));
      CHECK(enclosure::width(result.rows[0].box[1]) < 1e-14);
    }
  }

  TEST_CASE("a fold ends the proof before it, with the reason") {
    // y³ − y = −x has a double root y = −1/√3 at −x = 2/√27
    const Enclosure result =
        run("x = 1\ny = -1.3", "equations = [\"der(x) = -1\", \"y^3 - y = -x\"]", 4, {1, 1.25, 2});
    REQUIRE(result.lost.has_value());
    CHECK(reason(result).find("fold") != std::string::npos);
    CHECK(result.lost->t.hi <= 1 + 2 / std::sqrt(27.0) + 1e-12);
    CHECK(result.lost->t.lo > 1.38);
    CHECK(result.rows.size() == 2);
  }

  // (y − 1)² + x = 0, by ranges that know nothing of y and by others
  TEST_CASE("a start from which no root is found is lost at once, or refused where there is none") {
    const auto started = [](const std::string& equation) {
      return run("x = 1\ny = 0.5", "equations = [\"der(x) = -y\", \"" + equation + "\"]", 1, {1});
    };
    CHECK_THROWS_WITH_AS(started("(y - 1)^2 + x = 0"),
                         doctest::Contains("no start fulfils this equation"), ModelError);
    const Enclosure result = started("y^2 - 2*y + 1 + x = 0");
    CHECK(reason(result).find("no root") != std::string::npos);
    CHECK(result.rows.empty());
  }

  TEST_CASE("a derivative that stands implicitly is the one of the explicit form") {
    const Enclosure implicit =
        run("x = 2", "equations = [\"exp(der(x)) = x + t\"]", 2, {0.5, 1, 2});
    const Enclosure formula = run("x = 2", "equations = [\"der(x) = log(x + t)\"]", 2, {0.5, 1, 2});
    REQUIRE(is_unique(implicit));
    REQUIRE(is_unique(formula));
    for (std::size_t k = 0; k < 3; ++k) {
      CHECK(meet(implicit.rows[k].box[0], formula.rows[k].box[0]));
      CHECK(enclosure::width(implicit.rows[k].box[0]) < 1e-13);
    }
  }

  TEST_CASE("coupled equations are solved together, over sets as at their points") {
    const std::string model =
        "equations = [\"der(x) = -y + z\", \"y + y^3 + 0.2*z = x\", \"z + exp(z) = 2 - y\"]";
    const Enclosure set = run("x = \"[0.9, 1.1]\"\ny = 0.5\nz = 0.3", model, 3, {1, 2, 3});
    REQUIRE(is_unique(set));
    for (const char* x : {"0.9", "1", "1.0625", "1.1"}) {
      const Enclosure point =
          run("x = " + std::string(x) + "\ny = 0.5\nz = 0.3", model, 3, {1, 2, 3});
      REQUIRE(is_unique(point));
      CHECK(holds(set, point));
      for (const auto& row : point.rows)
        CHECK((row.box[2] + exp(row.box[2]) - Interval(2) + row.box[1]).contains(0.0));
    }
    const Enclosure low = run("x = 0.9\ny = 0.5\nz = 0.3", model, 3, {3});
    const Enclosure high = run("x = 1.1\ny = 0.5\nz = 0.3", model, 3, {3});
    const double spread = high.rows[0].box[0].lo - low.rows[0].box[0].hi;
    CHECK(enclosure::width(set.rows[2].box[0]) < 1.3 * spread);
  }

  TEST_CASE("where a relay makes an algebraic variable jump its only root goes on") {
    const Enclosure result =
        run("x = 1\ny = 0.5",
            "equations = [\"der(x) = -1\", \"exp(y) + y = x + 0.5*sign(x - 0.25)\"]", 2, {0.5, 1});
    REQUIRE(is_unique(result));
    REQUIRE(result.events.size() == 1);
    CHECK(result.events[0].t.contains(0.75));
    const Interval before = result.rows[0].box[1], after = result.rows[1].box[1];
    CHECK((exp(before) + before - Interval(1)).contains(0.0));
    CHECK((exp(after) + after + Interval(0.5)).contains(0.0));
  }

  TEST_CASE("where it may jump to other roots the proof ends") {
    const Enclosure result =
        run("x = 1\ny = 1.5", "equations = [\"der(x) = -1\", \"y^3 - y = 2 + sign(x - 0.5)\"]", 1,
            {0.25, 1});
    CHECK(reason(result).find("may have other roots") != std::string::npos);
    CHECK(result.rows.size() == 1);
  }

  TEST_CASE("a relay on an implicit variable switches where the variable is 0") {
    const std::string start = "x = 1\nv = 0\ny = 0.5";
    const Enclosure result = run(
        start, "equations = [\"der(x) = v\", \"der(v) = -2*sign(y)\", \"y + y^3 = x\"]", 5, {5});
    const Enclosure same = run(
        start, "equations = [\"der(x) = v\", \"der(v) = -2*sign(x)\", \"y + y^3 = x\"]", 5, {5});
    REQUIRE(is_unique(result));
    REQUIRE(result.events.size() == same.events.size());
    REQUIRE(!result.events.empty());
    for (std::size_t k = 0; k < same.events.size(); ++k) {
      CHECK(meet(result.events[k].t, same.events[k].t));
      CHECK(enclosure::width(result.events[k].t) < 1e-12);
    }
  }

  TEST_CASE("sliding on a circle, through both axes") {
    // attracted along radii, r' = −r until r = 1, rotating with angular velocity 1
    const Enclosure result = run("x = 2\ny = 0",
                                 "equations = [\"der(x) = -y - x*sign(x^2 + y^2 - 1)\", \"der(y) = "
                                 "x - y*sign(x^2 + y^2 - 1)\"]",
                                 6, {0.25, 3, 6});
    REQUIRE(is_unique(result));
    REQUIRE(result.events.size() == 1);
    CHECK(meet(result.events[0].t, log(Interval(2))));  // r' = −r
    for (std::size_t k = 1; k < 3; ++k) {
      const auto& row = result.rows[k];
      CHECK(meet(row.box[0], cos(Interval(row.t))));
      CHECK(meet(row.box[1], sin(Interval(row.t))));
      CHECK(enclosure::width(row.box[0]) < 1e-13);
    }
  }

  TEST_CASE("sets that slide on a circle hold their points, and lie near it") {
    const std::string model =
        "equations = [\"der(x) = -y - x*sign(x^2 + y^2 - 1)\", \"der(y) = x - y*sign(x^2 + y^2 - "
        "1)\"]";
    const Enclosure set =
        run("x = \"[1.999, 2.001]\"\ny = \"[-0.001, 0.001]\"", model, 4, {0.25, 1.5, 4});
    REQUIRE(is_unique(set));
    for (const char* x : {"1.999", "2", "2.001"})
      for (const char* y : {"-0.001", "0.0005", "0.001"}) {
        const Enclosure point =
            run("x = " + std::string(x) + "\ny = " + y, model, 4, {0.25, 1.5, 4});
        REQUIRE(is_unique(point));
        CHECK(holds(set, point));
      }
    // angles of members differ by 0.001001 at most
    CHECK(enclosure::width(set.rows[2].box[0]) < 2 * 0.001001 * std::abs(std::sin(4.0)));
  }

  TEST_CASE(
      "an index-2 constraint that gives no state by a constant: a pendulum through its lowest "
      "point") {
    const Enclosure result = run("x = 1\ny = 0\nvx = 0\nvy = 0\nL = 0",
                                 "equations = [\"der(x) = vx\", \"der(y) = vy\", \"der(vx) = "
                                 "-L*x\", \"der(vy) = -L*y - 10\", "
                                 "\"x*vx + y*vy = 0\"]",
                                 1, {0.5, 1});
    REQUIRE(is_unique(result));
    for (const auto& row : result.rows) {  // length and energy
      const auto& b = row.box;
      CHECK((square(b[0]) + square(b[1]) - Interval(1)).contains(0.0));
      CHECK((square(b[2]) + square(b[3]) + Interval(20) * b[1]).contains(0.0));
      CHECK(enclosure::width(b[0]) < 1e-11);
    }
    CHECK(result.rows[1].box[0].hi < 0);
  }

  TEST_CASE("friction sticks and slips beside an index-2 equation that slides") {
    const std::string friction = "\"der(p) = v\", \"der(v) = -p - 0.5*sign(v) + 0.3*sin(2*t)\"";
    const Enclosure both = run("x1 = -5\nx2 = 4\nz = 0\np = 1\nv = 0",
                               "equations = [\"der(x1) = 1 - 0.5*z\", \"der(x2) = z\", "
                               "\"x2 = abs(x1) + sign(x1)\", " +
                                   friction + "]",
                               10, {2, 5, 10});
    const Enclosure alone = run("p = 1\nv = 0", "equations = [" + friction + "]", 10, {2, 5, 10});
    REQUIRE(is_unique(both));
    REQUIRE(is_unique(alone));
    for (std::size_t k = 0; k < 3; ++k)
      for (std::size_t i = 0; i < 2; ++i)
        CHECK(meet(both.rows[k].box[3 + i], alone.rows[k].box[i]));
  }
}

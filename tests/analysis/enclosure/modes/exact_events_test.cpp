#include <doctest/doctest.h>
#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cmath>
#include <string>
#include <vector>

#include <perp/analysis/enclosure/exact_model.hpp>
#include <perp/core/interval/decimal.hpp>

using namespace perp;
using enclosure::EncloseOptions;
using enclosure::Enclosure;
using enclosure::Flag;
using enclosure::Interval;
using BigRational = boost::multiprecision::cpp_rational;

namespace {

Enclosure run(const std::string& text, std::vector<double> times, int pieces = 1) {
  EncloseOptions options;
  options.times = std::move(times);
  options.pieces = pieces;
  return enclosure::read_exact_model(text, "test.toml").enclose(options);
}

bool holds(const Interval& a, const BigRational& x) {
  return BigRational(a.lo) <= x && x <= BigRational(a.hi);
}

}  // namespace

TEST_SUITE("analysis/enclosure/modes/exact_events") {
  // x' = 1, then 3/2; y' = 1/2, then −1; the surface x = y/4 is met at (y/4 − x)/(7/8), which is no
  // double: the rows are narrower than the rounding of that time.
  TEST_CASE("points cross at the time that is theirs, not at the double next to it") {
    for (int k = 0; k < 48; ++k) {
      const BigRational x0(-64 - k, 64), y0(64 + 3 * k, 64);
      const Enclosure result =
          run("[variables]\nx = " + std::to_string((-64 - k) / 64.0) + "\ny = " +
                  std::to_string((64 + 3 * k) / 64.0) +
                  "\n[model]\nequations = [\"der(x) = 1.25 + 0.25*sign(x - y/4)\", \"der(y) = "
                  "-0.25 - 0.75*sign(x - y/4)\"]\n[run]\nt = [0, 8]\n",
              {8});
      REQUIRE_FALSE(result.lost.has_value());
      const BigRational event = (y0 / 4 - x0) / BigRational(7, 8);
      const auto& row = result.rows.back();
      CAPTURE(k);
      CHECK(holds(result.events.at(0).t, event));
      CHECK(holds(row.box[0], x0 + event + (8 - event) * BigRational(3, 2)));
      CHECK(holds(row.box[1], y0 + event / 2 - (8 - event)));
      CHECK(enclosure::width(row.box[0]) < 1e-14);
    }
  }

  // The surface is x = 0, but its formula is known to 1e-7 only: so is the time of a point's event.
  TEST_CASE("a point meets a surface that is not known exactly at all times at which it may") {
    for (const char* surface : {"x + 2.1e8 - 1e10*0.1*0.3*0.7", "x + 12.87e9 - 1e10*0.9*1.1*1.3",
                                "x + 7.14e9 - 1e10*0.6*0.7*1.7", "x - 4.29e9 + 1e10*0.3*1.1*1.3"}) {
      const Enclosure result = run("[variables]\nx = -0.5\n[model]\nequations = [\"der(x) = 1 + "
                                   "step(" + std::string(surface) + ")\"]\n[run]\nt = [0, 2]\n",
                                   {0.25, 2});
      CAPTURE(surface);
      REQUIRE_FALSE(result.lost.has_value());
      CHECK(result.events.at(0).t.contains(0.5));
      CHECK(result.rows.back().box[0].contains(3.0));
      CHECK(enclosure::width(result.rows.back().box[0]) < 1e-4);
    }
  }

  TEST_CASE("a surface at a number that is no double is slid on where it is") {
    const Enclosure result = run(R"toml(
[variables]
x = 1
y = 0
[model]
equations = ["der(x) = 0.25 - sign(x - 0.1)", "der(y) = x"]
[run]
t = [0, 4]
)toml",
                                 {2, 3, 4});
    REQUIRE_FALSE(result.lost.has_value());
    for (const auto& row : result.rows) {
      CHECK(row.box[0].contains(enclosure::enclose_decimal("0.1")));
      CHECK(enclosure::width(row.box[0]) < 1e-16);
      // from t = 1.2 on y = 0.66 + 0.1 (t − 1.2)
      CHECK(holds(row.box[1], BigRational(66, 100) + (BigRational(row.t) - BigRational(12, 10)) / 10));
    }
  }

  TEST_CASE("a surface 3 x = 1 is slid on at the third, which is no double") {
    const Enclosure result = run(R"toml(
[variables]
x = 1
y = 0
[model]
equations = ["der(x) = 0.25 - sign(3*x - 1)", "der(y) = x"]
[run]
t = [0, 4]
)toml",
                                 {2, 4});
    REQUIRE_FALSE(result.lost.has_value());
    for (const auto& row : result.rows) {
      CHECK(holds(row.box[0], BigRational(1, 3)));
      CHECK(enclosure::width(row.box[0]) < 1e-16);
      // from t = 8/9 on, where y = 16/27
      CHECK(holds(row.box[1], BigRational(16, 27) + (BigRational(row.t) - BigRational(8, 9)) / 3));
    }
  }

  // Slides on x = 0 until 0.3 y = 1 at t = 1/0.21; x' = 0 there but for rounding, x'' = 0.21.
  TEST_CASE("a surface is left where its multiplier ends, although x' is 0 to rounding only") {
    const Enclosure result = run(R"toml(
[variables]
x = -0.5
y = 0
[model]
equations = ["der(x) = 0.3*y - sign(x)", "der(y) = 0.7"]
[run]
t = [0, 6]
)toml",
                                 {2, 6});
    REQUIRE_FALSE(result.lost.has_value());
    const BigRational after = BigRational(6) - BigRational(100, 21);
    CHECK(holds(result.rows.back().box[0], BigRational(21, 200) * after * after));
    CHECK(enclosure::width(result.rows.back().box[0]) < 1e-13);
    CHECK(result.rows.back().flag == Flag::unique);
    CHECK(result.events.size() == 2);
  }

  // A layer 0 < x < 1/64 in which y' = 1: every member is in it for 1/64, but a set that is wider
  // than the layer is on both of its sides at once.
  TEST_CASE("a layer that is thinner than the set: each member spends its own time in it") {
    for (const char* start : {"[-0.625, -0.375]", "[-0.53125, -0.46875]", "[-0.5, -0.4921875]"}) {
      const Enclosure result = run(std::string("[variables]\nx = \"") + start +
                                       "\"\ny = 0\n[model]\nequations = [\"der(x) = 1\", \"der(y) = "
                                       "step(x) - step(x - 0.015625)\"]\n[run]\nt = [0, 2]\n",
                                   {0.46875, 0.5, 0.53125, 2}, 64);
      CAPTURE(start);
      CHECK_FALSE(result.rows.empty());
      for (const double x0 : {-0.5, -0.49609375, -0.4921875}) {
        for (const auto& row : result.rows) {
          const double y = std::clamp(row.t + x0, 0.0, 0.015625);
          const bool inside =
              std::any_of(result.rows.begin(), result.rows.end(), [&](const auto& other) {
                return other.t == row.t && other.box[0].contains(x0 + row.t) &&
                       other.box[1].contains(y);
              });
          CHECK(inside);
        }
      }
    }
  }

  // The other surface is met between the first member's event and the last one's.
  TEST_CASE("two surfaces within one window: each member meets them in its own order") {
    const Enclosure result = run(R"toml(
[variables]
x = "[-0.5625, -0.4375]"
y = -0.5
z = 0
[model]
equations = ["der(x) = 1", "der(y) = 1", "der(z) = step(x)*(1 - step(y))"]
[run]
t = [0, 2]
)toml",
                                 {0.5, 1, 2}, 16);
    for (int k = 0; k <= 8; ++k) {
      const double x0 = -0.5625 + k / 64.0;
      for (const auto& row : result.rows) {
        // x > 0 > y from −x0 until 1/2
        const double z = std::max(0.0, std::min(row.t, 0.5) + x0);
        CHECK(std::any_of(result.rows.begin(), result.rows.end(), [&](const auto& other) {
          return other.t == row.t && other.box[0].contains(x0 + row.t) && other.box[2].contains(z);
        }));
      }
    }
    CHECK_FALSE(result.rows.empty());
  }

  // Before x = 0 late members alone dip below another surface, from the middle's event on, and are
  // above it again at their own; or early ones behind x = 0, until the middle's event: for them
  // z = 2 √(0.01 (|x0 + 1/2| − 0.03)).
  TEST_CASE("what other gaps do between the middle's event and that of each member counts") {
    for (const bool late : {true, false}) {
      // of u, which stands still before the event, and with r, which does as well, no other mode dips
      const std::string dip = late ? "-(x + 0.02)^2 - 0.01*(0.53 - t + x) - 0.03*r"
                                   : "-(u - 0.02)^2 - 0.01*(t - x - 0.47)";
      const Enclosure result =
          run("[variables]\nx = \"[-0.5625, -0.4375]\"\nz = 0\nu = 0\nr = 0\n[model]\n"
              "equations = [\"der(x) = 1\", \"der(u) = step(x)\", \"der(r) = -step(x)\", \"der(z) = "
              "step(" +
                  dip + ")\"]\n[run]\nt = [0, 2]\n",
              {2}, 64);
      CAPTURE(late);
      REQUIRE_FALSE(result.lost.has_value());
      for (int k = 0; k <= 16; ++k) {
        const double x0 = -0.5625 + k / 128.0, depth = late ? -x0 - 0.53 : x0 + 0.47;
        const double z = 2 * std::sqrt(std::max(0.0, 0.01 * depth));
        CAPTURE(x0);
        CHECK(std::any_of(result.rows.begin(), result.rows.end(), [&](const auto& row) {
          return row.t == 2 && row.box[0].contains(x0 + 2) && row.box[1].lo <= z + 1e-12 &&
                 z - 1e-12 <= row.box[1].hi && row.box[2].contains(2 + x0);
        }));
      }
    }
  }

  // Who has not come to x = 0 until t = 0.53 meets a law, which the reset there takes away: members
  // after the middle's event alone, and none in the new mode.
  TEST_CASE("a law that late members alone meet, until their own event, is not passed over") {
    const Enclosure result = run(R"toml(
[variables]
x = "[-0.5625, -0.4375]"
z = 0
r = 0
[model]
equations = ["der(x) = 1", "der(z) = step(t - 0.53 - r)", "der(r) = 0"]
when = [{ condition = "x", direction = 1, set = { r = "10" } }]
[run]
t = [0, 2]
)toml",
                                 {0.5, 0.515625, 2}, 64);
    CHECK_FALSE(result.rows.empty());
    for (const auto& at : result.rows) {
      for (int k = 0; k <= 16; ++k) {
        const double x0 = -0.5625 + k / 128.0, z = std::max(0.0, std::min(at.t, -x0) - 0.53);
        CAPTURE(at.t);
        CAPTURE(x0);
        CHECK(std::any_of(result.rows.begin(), result.rows.end(), [&](const auto& row) {
          return row.t == at.t && row.box[0].contains(x0 + at.t) && row.box[1].lo <= z + 1e-12 &&
                 z - 1e-12 <= row.box[1].hi;
        }));
      }
    }
  }

  // After the reset at x = 0 a law is met at t = 0.47 about, by those that have come to x > 0.02 by
  // then: neither at the surface nor from the middle's event at t = 0.5 on is anything of it seen.
  TEST_CASE("a law that early members alone meet, until the middle's event, is not passed over") {
    const Enclosure result = run(R"toml(
[variables]
x = "[-0.5625, -0.4375]"
z = 0
r = 0
[model]
equations = [
  "der(x) = 1",
  "der(z) = step(r*exp(-((t - 0.47)/0.005)^2 - ((x - 0.04)/0.01)^2) - 1)",
  "der(r) = 0",
]
when = [{ condition = "x", direction = 1, set = { r = "4" } }]
[run]
t = [0, 0.75]
)toml",
                                 {0.75}, 64);
    const auto is_on = [](double t, double x) {
      return 4 * std::exp(-std::pow((t - 0.47) / 0.005, 2) - std::pow((x - 0.04) / 0.01, 2)) > 1;
    };
    REQUIRE_FALSE(result.lost.has_value());
    for (int k = 12; k <= 16; ++k) {
      const double x0 = -0.5625 + k / 128.0;
      double z = 0;
      for (double t = -x0; t < 0.5; t += 0x1p-16) z += is_on(t, t + x0) ? 0x1p-16 : 0;
      CAPTURE(x0);
      CHECK(std::any_of(result.rows.begin(), result.rows.end(), [&](const auto& row) {
        return row.box[0].contains(x0 + 0.75) && row.box[1].lo <= z + 1e-4 &&
               z - 1e-4 <= row.box[1].hi;
      }));
      if (k == 16) CHECK(z > 0.005);
    }
  }

  // The gap falls to 1/1024 and rises again between the ends of a slice.
  TEST_CASE("a dip between two times of a step is seen") {
    const Enclosure result = run(R"toml(
[variables]
x = 1
v = -1
y = 0
[model]
equations = ["der(x) = v", "der(v) = 0.50048828125", "der(y) = step(-x)"]
[run]
t = [0, 4]
)toml",
                                 {4});
    // x = 1 − t + c t²/2 with c = 1/2 + 1/2048 has its least value 1 − 1/(2 c) = 1/1025
    REQUIRE_FALSE(result.lost.has_value());
    CHECK(result.rows.back().box[2] == Interval(0));
    const Enclosure crossed = run(R"toml(
[variables]
x = 1
v = -1
y = 0
[model]
equations = ["der(x) = v", "der(v) = 0.49951171875", "der(y) = step(-x)"]
[run]
t = [0, 4]
)toml",
                                  {4}, 4);
    // c = 1/2 − 1/2048: x < 0 for 2 √(1 − 2 c)/c = 2 √(1/1024)/c
    REQUIRE_FALSE(crossed.lost.has_value());
    CHECK(intersection(crossed.rows.back().box[2], Interval(0.0625) / Interval(0.49951171875))
              .has_value());
    CHECK(crossed.events.size() == 2);
  }
}

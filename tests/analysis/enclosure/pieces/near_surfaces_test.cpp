#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <perp/analysis/enclosure/exact_model.hpp>

using namespace perp;
using enclosure::EncloseOptions;
using enclosure::Enclosure;
using enclosure::EnclosureEvent;
using enclosure::ExactModel;
using enclosure::Interval;

namespace {

Enclosure enclosed(const ExactModel& model, const std::vector<double>& times, int pieces) {
  EncloseOptions options;
  options.times = times;
  options.pieces = pieces;
  return model.enclose(options);
}

}  // namespace

TEST_SUITE("analysis/enclosure/pieces/near_surfaces") {
  // The dead zone of a clamp of slope 1000: its corners are 0.001 apart, members 0.02.
  TEST_CASE(
      "corners that are nearer to each other than members of a set are passed one after the "
      "other") {
    for (const int slope : {1000, -1000}) {
      const auto text = [slope](const std::string& x, const std::string& v) {
        const std::string k = std::to_string(slope);
        return "[variables]\nx = " + x + "\nv = " + v +
               "\n[model]\nequations = [\"der(x) = v\", \"der(v) = -max(min(" +
               (slope > 0 ? k + "*(x - 1)" : k + "*(1 - x)") + ", 1), 0) + max(min(" +
               (slope > 0 ? k + "*(-x - 1)" : k + "*(1 + x)") + ", 1), 0)\"]\n[run]\nt = [0, 20]\n";
      };
      const std::vector<double> times{0, 1, 1.3, 2, 2.41, 3, 5, 10, 15, 20};
      const Enclosure set =
          enclosed(enclosure::read_exact_model(text("\"[2.495, 2.505]\"", "\"[-0.505, -0.495]\""),
                                               "zone.toml"),
                   times, 8);
      REQUIRE(!set.lost);
      REQUIRE(set.rows.size() == times.size());
      CHECK(set.events.size() == 16);
      for (const EnclosureEvent& event : set.events) CHECK(event.unique);
      for (const char* const x : {"2.495", "2.5", "2.505"})
        for (const char* const v : {"-0.505", "-0.5", "-0.495"}) {
          const Enclosure point =
              enclosed(enclosure::read_exact_model(text(x, v), "zone.toml"), times, 1);
          REQUIRE(!point.lost);
          REQUIRE(point.rows.size() == times.size());
          for (std::size_t k = 0; k < times.size(); ++k)
            for (std::size_t i = 0; i < 2; ++i)
              CHECK(set.rows[k].box[i].contains(point.rows[k].box[i]));
          REQUIRE(point.events.size() == set.events.size());
          for (std::size_t k = 0; k < set.events.size(); ++k)
            CHECK(set.events[k].t.contains(point.events[k].t));
        }
    }
  }

  // x and y reach 0 at −x0 and −y0. Of the centre x is first; z grows at the rate 8 from where y is
  // first until x comes: without a reset by its own equation, with one that throws both back since
  // y is below 0 again, so that nothing behind the surface tells which of them was first.
  TEST_CASE("of several gaps that fall, none is first because it is first of the centre") {
    for (const bool is_reset : {true, false}) {
      const std::string rate = is_reset ? "8*step(y)" : "8*step(y)*(1 - step(x))",
                        when = is_reset ? "when = [{ condition = \"x\", direction = 1, set = { x = "
                                          "\"-9\", y = \"-9\" } }]\n"
                                        : "";
      const ExactModel model = enclosure::read_exact_model(
          "[variables]\nx = \"[-1, -0.75]\"\ny = \"[-1.125, -0.875]\"\nz = 0\n[model]\nequations = "
          "[\"der(x) = 1\", \"der(y) = 1\", \"der(z) = " +
              rate + "\"]\n" + when + "[run]\nt = [0, 2]\n",
          "order.toml");
      for (const int pieces : {1, 2, 16, 256}) {
        const Enclosure found = enclosed(model, {0, 1.5, 2}, pieces);
        CAPTURE(is_reset);
        CAPTURE(pieces);
        for (int i = 0; i <= 8; ++i)
          for (int j = 0; j <= 8; ++j) {
            const double x0 = -1 + i * 0.03125, y0 = -1.125 + j * 0.03125;
            const double z = 8 * std::max(0.0, y0 - x0);
            for (const double t : {1.5, 2.0}) {
              bool any = false, holds = false;
              for (const auto& row : found.rows) {
                any = any || row.t == t;
                holds =
                    holds || (row.t == t && row.box[0].contains(is_reset ? -9 + t + x0 : x0 + t) &&
                              row.box[2].contains(z));
              }
              if (any) CHECK(holds);
            }
          }
        if (pieces >= 16 && !is_reset) CHECK(found.rows.back().t == 2);
      }
    }
  }

  // The same where the members with another order are apart: it is proved.
  TEST_CASE("a gap that falls beside the one that is first of all members is no reason to stop") {
    const ExactModel model = enclosure::read_exact_model(R"toml(
[variables]
x = "[-1, -0.75]"
y = "[-1.25, -1.03125]"
z = 0
[model]
equations = ["der(x) = 1", "der(y) = 1", "der(z) = 8*step(y)"]
when = [{ condition = "x", direction = 1, set = { x = "-9", y = "-9" } }]
[run]
t = [0, 2]
)toml",
                                                         "order.toml");
    const Enclosure found = enclosed(model, {0, 1.5, 2}, 1);
    REQUIRE(!found.lost);
    CHECK(found.rows.back().flag == enclosure::Flag::unique);
    CHECK(found.rows.back().box[2] == Interval(0));
  }

  TEST_CASE("a law whose argument a reset sets has an event at that time, and so has one beside") {
    const ExactModel model = enclosure::read_exact_model(R"toml(
[variables]
x = "[0.99, 1.01]"
v = "[-1.01, -0.99]"
y = 0
z = 0
[model]
equations = ["der(x) = v", "der(v) = 0", "der(y) = abs(v)", "der(z) = step(v - 0.25)"]
when = [{ condition = "x", direction = -1, set = { v = "-v/2" }, name = "impact" }]
[run]
t = [0, 2]
)toml",
                                                         "laws.toml");
    const Enclosure found = enclosed(model, {0, 2}, 1);
    REQUIRE(!found.lost);
    REQUIRE(found.events.size() == 3);
    CHECK(found.events[0].type == "jump");
    CHECK(found.events[1].type == "kink");
    CHECK(found.events[2].type == "crossing");
    for (const EnclosureEvent& event : found.events) {
      CHECK(event.unique);
      CHECK(event.t.contains(0.99 / 1.01));
      CHECK(event.t.contains(1.01 / 0.99));
    }
    CHECK(found.events[1].from != found.events[1].to);
  }

  // x' = −m x³, and a quarter of that from x = 1/2 on: 1/x² = 1/x0² + 2 m t, then 4 + m (t − t0)/2.
  // Of the whole set the rate at the surface has a sign over ever shorter times only.
  TEST_CASE("a set that would come to its event by ever shorter steps is bisected") {
    const ExactModel model = enclosure::read_exact_model(R"toml(
[parameters]
m = "[0.5, 1.5]"
[variables]
x = 10
[model]
equations = ["der(x) = -m*if(x > 0.5, 1, 0.25)*x^3"]
[run]
t = [0, 20]
)toml",
                                                         "decay.toml");
    const std::vector<double> times{0, 0.5, 1, 2, 4, 8, 20};
    for (const bool tube : {false, true}) {
      EncloseOptions options;
      options.times = times;
      options.tube = tube;
      const Enclosure found = model.enclose(options);
      REQUIRE(!found.lost);
      REQUIRE(found.rows.size() == times.size());
      CHECK(found.steps < 20'000);
      for (std::size_t k = 0; k < times.size(); ++k) {
        const auto solution = [&](double m) {
          const double t = times[k], t0 = (4 - 0.01) / (2 * m);
          return 1 / std::sqrt(t < t0 ? 0.01 + 2 * m * t : 4 + m * (t - t0) / 2);
        };
        const Interval& x = found.rows[k].box[0];
        for (double m = 0.5; m <= 1.5; m += 0.03125) {
          CHECK(x.lo <= solution(m) * (1 + 1e-12));
          CHECK(x.hi >= solution(m) * (1 - 1e-12));
        }
        CHECK(x.hi - x.lo <= 1.5 * (solution(0.5) - solution(1.5)));
      }
    }
  }

  // Times of events are rounded to multiples of 2^−46 here: x is 0 at 20 − 2^−46.
  TEST_CASE("an event that leaves the shortest of all times to the end is no end of the proof") {
    const ExactModel model = enclosure::read_exact_model(R"toml(
[variables]
x = -19.9999999999999857891452847979962825775146484375
y = 0
[model]
equations = ["der(x) = 1", "der(y) = step(x)"]
[run]
t = [0, 20]
)toml",
                                                         "last.toml");
    const Enclosure found = enclosed(model, {0, 20}, 1);
    REQUIRE(!found.lost);
    REQUIRE(found.rows.size() == 2);
    CHECK(found.rows[1].box[1].contains(0x1p-46));
    CHECK(width(found.rows[1].box[1]) < 0x1p-90);
  }
}

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <string>

#include <perp/analysis/enclosure/exact_model.hpp>

using namespace perp;
using enclosure::EncloseOptions;
using enclosure::Enclosure;
using enclosure::Interval;

namespace {

/// A level between two switches: x2 rests between them and turns beyond. Everything in units of x1
/// and x2 that are powers of two.
Enclosure level(double unit1, double unit2, double end, const std::string& company) {
  const std::string text = fmt::format(
      R"toml(
[parameters]
u = {:.40g}
v = {:.40g}
[variables]
x1 = "5*u"
x2 = "1.1*v"
{}
[model]
equations = [
  "der(x1) = u/v*x2",
  "der(x2) = 0.5*v*if(x1 < 3*u, 1, if(x1 > 7*u, -1, 0))",
  {}
]
[run]
t = [0, {}]
)toml",
      unit1, unit2, company.empty() ? "" : "c = \"[2, 3]\"", company, end);
  EncloseOptions options;
  options.times = {end};
  return enclosure::read_exact_model(text, "level.toml").enclose(options);
}

}  // namespace

TEST_SUITE("analysis/enclosure/modes/many_events") {
  // (x2)²/2 + 0.5 max(0, |x1 − 5| − 2) is kept: the motion is a cycle, and every 4/1.1 + 4.4 one
  // way and back takes two switches each.
  TEST_CASE("a state that rests between events keeps its errors in the frame of those that move") {
    const Enclosure result = level(1, 1, 10000, "");
    REQUIRE_FALSE(result.lost.has_value());
    CHECK(result.events.size() == 2489);
    CHECK(std::all_of(result.events.begin(), result.events.end(),
                      [](const auto& event) { return event.unique; }));
    for (const Interval& x : result.rows.back().box) CHECK(enclosure::width(x) < 1e-7);
    const Interval &x1 = result.rows.back().box[0], &x2 = result.rows.back().box[1];
    const double beyond = std::max(0.0, std::abs(middle(x1) - 5) - 2);
    CHECK(std::abs(middle(x2) * middle(x2) / 2 + beyond / 2 - 0.605) < 1e-7);
  }

  TEST_CASE("units of powers of two change nothing but the unit of many crossings") {
    const Enclosure one = level(1, 1, 500, "");
    for (const auto& [a, b] : {std::pair(30, 0), std::pair(-30, 30), std::pair(0, -30)}) {
      const Enclosure other = level(std::ldexp(1, a), std::ldexp(1, b), 500, "");
      REQUIRE(one.events.size() == other.events.size());
      for (std::size_t k = 0; k < one.events.size(); ++k)
        CHECK(one.events[k].t == other.events[k].t);
      CHECK(one.rows.back().box[0] * Interval(std::ldexp(1, a)) == other.rows.back().box[0]);
      CHECK(one.rows.back().box[1] * Interval(std::ldexp(1, b)) == other.rows.back().box[1]);
    }
  }

  TEST_CASE("an interval that rests beside them does not widen many crossings") {
    for (const char* company : {"\"der(c) = 0\"", "\"der(c) = -c/100\""}) {
      const Enclosure one = level(1, 1, 1000, ""), two = level(1, 1, 1000, company);
      REQUIRE_FALSE(two.lost.has_value());
      CHECK(one.events.size() == two.events.size());
      for (std::size_t i = 0; i < 2; ++i)
        CHECK(enclosure::width(two.rows.back().box[i]) <
              100 * enclosure::width(one.rows.back().box[i]));
    }
  }
}

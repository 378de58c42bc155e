#include <doctest/doctest.h>
#include <algorithm>
#include <string>
#include <vector>

#include <perp/analysis/enclosure/exact_model.hpp>

using namespace perp;
using enclosure::EncloseOptions;
using enclosure::Enclosure;
using enclosure::Interval;

TEST_SUITE_BEGIN("analysis/enclosure/pieces/piece_rows");

namespace {

Enclosure enclosed(const std::string& text, const std::vector<double>& times, bool tube = false) {
  EncloseOptions options;
  options.times = times;
  options.tube = tube;
  return enclosure::read_exact_model(text + "[run]\nt = [0, 8]\n", "rows.toml").enclose(options);
}

/// Reaches 0 two roundings before t = 2, which is on the grid of steps, and is thrown back.
constexpr const char* impact = R"toml(
[variables]
x = 1.9999999999999996
v = -1
[model]
equations = ["der(x) = v", "der(v) = 0"]
when = [{ condition = "x", direction = -1, set = { v = "-v" } }]
)toml";

/// x = min(−1 + a t, 0): held on the surface from t = 1/a on.
constexpr const char* slow = R"toml(
[parameters]
a = "[0.2, 0.5]"
[variables]
x = -1
[model]
equations = ["der(x) = if(x > 0, a - 1, a)"]
)toml";

}  // namespace

TEST_CASE("a row just behind an event holds what is behind it, and not what would be without it") {
  const Enclosure found = enclosed(impact, {2, 3});
  REQUIRE(found.rows.size() == 2);
  REQUIRE(found.events.size() == 1);
  REQUIRE(found.events[0].t.hi < 2);
  CHECK(found.rows[0].box[1].contains(1));
  CHECK(!found.rows[0].box[1].contains(-1));
  CHECK(found.rows[0].box[0].lo > 0);
}

TEST_CASE("the tube just behind an event holds what is behind it") {
  const Enclosure found = enclosed(impact, {2, 3}, true);
  for (const auto& row : found.tube)
    if (row.to >= 2) CHECK(row.box[1].contains(1));
}

TEST_CASE("while members meet a surface rows hold none beyond it") {
  const Enclosure found = enclosed(slow, {1, 2, 3, 4, 5, 6});
  REQUIRE(!found.lost);
  REQUIRE(found.rows.size() == 6);
  for (const auto& row : found.rows) {
    const Interval x = row.box[0];
    const double least = -1 + 0.2 * row.t, most = -1 + 0.5 * row.t;
    CHECK(x.lo <= std::min(least, 0.0) + 1e-15);
    CHECK(x.lo >= std::min(least, 0.0) - 1e-12);
    CHECK(x.hi >= std::min(most, 0.0) - 1e-15);
    CHECK(x.hi <= std::min(most, 0.0) + 1e-12);
  }
}

// y = max(x, 0) and z = min(x, 0) + 1 with x = x(0) + t.
TEST_CASE("while members meet a surface other states are those of the members on either side") {
  const Enclosure found = enclosed(R"toml(
[variables]
x = "[-1.01, -0.99]"
y = 0
z = "[-0.01, 0.01]"
w = "[-1.01, -0.99]"
[model]
equations = ["der(x) = 1", "der(y) = step(x)", "der(z) = 0", "der(w) = 1 - step(x)"]
)toml",
                                   {0.5, 1, 2});
  REQUIRE(!found.lost);
  REQUIRE(found.rows.size() == 3);
  const auto& row = found.rows[1];
  CHECK(row.box[1].lo <= 0);
  CHECK(row.box[1].lo > -1e-12);
  CHECK(row.box[1].hi >= 0.01);
  CHECK(row.box[1].hi < 0.01 + 1e-12);
  CHECK(row.box[3].contains(-0.02));
  CHECK(row.box[3].contains(0.01));
}

TEST_SUITE_END();

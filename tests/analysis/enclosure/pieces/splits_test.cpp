#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <perp/analysis/enclosure/exact_model.hpp>

using namespace perp;
using enclosure::EncloseOptions;
using enclosure::Enclosure;
using enclosure::EnclosureRow;
using enclosure::Interval;

namespace {

Enclosure enclosed(const std::string& text, const std::vector<double>& times, int pieces,
                   int threads = 1) {
  EncloseOptions options;
  options.times = times;
  options.pieces = pieces;
  options.threads = threads;
  return enclosure::read_exact_model(text, "splits.toml").enclose(options);
}

/// Of a variable in the rows at the last time.
Interval hull_at_end(const Enclosure& found, std::size_t variable) {
  Interval all = found.rows.back().box[variable];
  for (const EnclosureRow& row : found.rows)
    if (row.t == found.rows.back().t) all = hull(all, row.box[variable]);
  return all;
}

/// z grows while one of both is above 0, and is |x0 − y0| in the end.
constexpr const char* both = R"toml(
[variables]
x = "[-1.01, -0.99]"
y = "[-1.01, -0.99]"
z = 0
[model]
equations = ["der(x) = 1", "der(y) = 1", "der(z) = step(x) + step(y) - 2*step(x)*step(y)"]
[run]
t = [0, 2]
)toml";

/// Slides on a circle from where it is met.
constexpr const char* circle = R"toml(
[parameters]
a = "[1.45, 1.55]"
[variables]
x = "[1.48, 1.52]"
y = "[0.98, 1.02]"
[model]
equations = ["der(x) = -0.5*y - a*x*sign(x^2 + y^2 - 1)", "der(y) = 0.5*x - a*y*sign(x^2 + y^2 - 1)"]
[run]
t = [0, 2]
)toml";

}  // namespace

TEST_SUITE("analysis/enclosure/pieces/splits") {
  TEST_CASE("where a bisection was in vain the interval whose bisection helps is found") {
    const Enclosure sliding = enclosed(circle, {0, 0.5, 1, 1.5, 2}, 64);
    REQUIRE(!sliding.lost);
    CHECK(width(hull_at_end(sliding, 0)) <
          0.045);  // 0.059 along the interval of the largest share alone
  }

  TEST_CASE("members of pieces that are lost and bisected are in the rows") {
    const Enclosure two = enclosed(both, {0, 1, 2}, 32);
    REQUIRE(!two.lost);
    for (int i = 0; i <= 8; ++i)
      for (int j = 0; j <= 8; ++j) {
        const double x0 = -1.01 + i * 0.0025, y0 = -1.01 + j * 0.0025;
        CHECK(std::any_of(two.rows.begin(), two.rows.end(), [&](const EnclosureRow& row) {
          return row.t == 2 && row.box[2].lo - 1e-14 <= std::abs(x0 - y0) &&
                 std::abs(x0 - y0) <= row.box[2].hi + 1e-14;
        }));
      }
  }

  TEST_CASE("which intervals are tried does not depend on the number of threads") {
    for (const char* text : {both, circle}) {
      const Enclosure one = enclosed(text, {0, 1, 2}, 32, 1),
                      two = enclosed(text, {0, 1, 2}, 32, 2);
      CHECK(one.pieces == two.pieces);
      REQUIRE(one.rows.size() == two.rows.size());
      for (std::size_t k = 0; k < one.rows.size(); ++k) CHECK(one.rows[k].box == two.rows[k].box);
    }
  }
}

#include <doctest/doctest.h>
#include <cmath>
#include <string>

#include <perp/analysis/enclosure/exact_model.hpp>

using namespace perp;
using enclosure::EncloseOptions;
using enclosure::Enclosure;
using enclosure::Interval;

TEST_SUITE("analysis/enclosure/pieces/widths") {
  // x = x0 exp(−t) is linear in x0, y = x (2 − x) is not: it grows with x up to 1.
  TEST_CASE("a variable that is computed from states is a reason to bisect too") {
    for (const double unit : {1.0, 0x1p-40}) {
      const std::string scale = std::to_string(unit == 1 ? 0 : -40);
      const enclosure::ExactModel model = enclosure::read_exact_model(
          "[variables]\nx = \"[0.5, 1.5]\"\ny = 1\n[model]\nequations = [\"der(x) = -x\", "
          "\"y = 2^(" +
              scale + ")*x*(2 - x)\"]\n[run]\nt = [0, 1]\n",
          "computed.toml");
      EncloseOptions options;
      options.times = {0.75, 1};
      const Enclosure found = model.enclose(options);
      REQUIRE(!found.lost);
      REQUIRE(found.rows.size() == 2);
      CHECK(found.pieces > 1);
      CHECK(found.pieces < 64);
      for (const auto& row : found.rows) {
        const auto y = [&](double x0) {
          const double x = x0 * std::exp(-row.t);
          return unit * x * (2 - x);
        };
        CHECK(row.box[1].lo <= y(0.5));
        CHECK(row.box[1].hi >= y(1.5));
        CHECK(width(row.box[1]) < 1.2 * (y(1.5) - y(0.5)));
      }
    }
  }

  // x' = m sin(x) x², x(0) = 10: x falls to 3π, where the rate is 0; the whole set has x' of both
  // signs and its enclosure no bound, in ever shorter steps before the first row.
  TEST_CASE("a set that has no bound between two rows is bisected soon") {
    for (const double unit : {1.0, 0x1p-30}) {
      const std::string s = unit == 1 ? "1" : "2^(-30)";
      const enclosure::ExactModel model = enclosure::read_exact_model(
          "[parameters]\nm = \"[0.5, 1.5]\"\n[variables]\nx = 10\n[model]\nequations = [\"der(x) = "
          "m*sin(x)*x^2/(" +
              s + ")\"]\n[run]\nt = [0, " + (unit == 1 ? "1" : "9.31322574615478515625e-10") +
              "]\n",
          "blow.toml");
      EncloseOptions options;
      options.times = {unit};
      const Enclosure found = model.enclose(options);
      REQUIRE(!found.lost);
      CHECK(found.pieces > 1);
      CHECK(found.pieces < 512);
      CHECK(found.rows.back().box[0].contains(3 * std::acos(-1.0)));
      CHECK(width(found.rows.back().box[0]) < 1e-6);
    }
  }

  // On the circle, where all are before t = 0.5, the angle is what it was at the start and t/2
  // more, whatever a: only before it, sets are wide by a.
  TEST_CASE("an interval is bisected that sets were wide by on their way, and are not at the end") {
    const enclosure::ExactModel model = enclosure::read_exact_model(R"toml(
[parameters]
a = "[1.4, 1.6]"
[variables]
x = "[1.49, 1.51]"
y = 1
[model]
equations = ["der(x) = -0.5*y - a*x*sign(x^2 + y^2 - 1)", "der(y) = 0.5*x - a*y*sign(x^2 + y^2 - 1)"]
[run]
t = [0, 3]
)toml",
                                                                    "circle.toml");
    EncloseOptions options;
    options.times = {0.25, 1, 2, 3};
    options.pieces = 16;
    const Enclosure found = model.enclose(options);
    REQUIRE(!found.lost);
    REQUIRE(found.rows.size() == 4);
    const auto& last = found.rows.back();
    const double first = std::atan2(1, 1.51) + 1.5, second = std::atan2(1, 1.49) + 1.5;
    CHECK(last.box[0].lo <= std::cos(second));
    CHECK(last.box[0].hi >= std::cos(first));
    CHECK(width(last.box[0]) < 2 * (std::cos(first) - std::cos(second)));
    CHECK(width(last.box[1]) < 2 * (std::sin(first) - std::sin(second)));
  }

  // x goes one way through both ends of the time in which y grows: unique, though it is not known
  // of wide parts when they do.
  TEST_CASE("rows that are too wide while laws are open are a reason to bisect too") {
    const enclosure::ExactModel model = enclosure::read_exact_model(R"toml(
[parameters]
p = "[5.3, 5.5]"
[variables]
x = 1
y = 0
[model]
equations = ["der(x) = 0.01*t^2 + y^3", "der(y) = if(x < p, 0, if(x < p + 0.5, 5, 0))"]
[run]
t = [0, 20]
)toml",
                                                                    "ramp.toml");
    EncloseOptions options;
    options.times = {10, 20};
    const Enclosure found = model.enclose(options);
    REQUIRE(!found.lost);
    const auto& last = found.rows.back();
    CHECK(last.flag == enclosure::Flag::unique);
    CHECK(width(last.box[1]) < 0.02);
    CHECK(width(last.box[0]) < 1.5);
  }

  // x² + v² stays what it is at the start, between 1 and 1.0504, while the box turns.
  TEST_CASE("a variable that several states give is not as wide as their box alone would make it") {
    const enclosure::ExactModel model = enclosure::read_exact_model(R"toml(
[variables]
x = "[1, 1.02]"
v = "[-0.1, 0.1]"
y = 1
[model]
equations = ["der(x) = v", "der(v) = -x", "y = x^2 + v^2"]
[run]
t = [0, 4]
)toml",
                                                                    "turn.toml");
    EncloseOptions options;
    options.times = {0, 0.75, 2.25, 4};
    options.pieces = 1;
    const Enclosure found = model.enclose(options);
    REQUIRE(!found.lost);
    REQUIRE(found.rows.size() == 4);
    for (const auto& row : found.rows) {
      CHECK(row.box[2].lo <= 1);
      CHECK(row.box[2].hi >= 1.0504);
      if (row.t > 0) CHECK(width(row.box[2]) < 0.1);
    }
  }

  // x and y meet 0 at nearly one time: which is first is not known of pieces on the diagonal.
  TEST_CASE("intervals that act alike are bisected alike") {
    const enclosure::ExactModel model = enclosure::read_exact_model(R"toml(
[variables]
x = "[-1.01, -0.99]"
y = "[-1.01, -0.99]"
z = 0
[model]
equations = ["der(x) = 1", "der(y) = 1", "der(z) = (1 - sign(x)*sign(y))/2"]
[run]
t = [0, 2]
)toml",
                                                                    "corner.toml");
    EncloseOptions options;
    options.times = {0, 2};
    options.pieces = 32;
    options.paving = true;
    const Enclosure found = model.enclose(options);
    REQUIRE(!found.lost);
    REQUIRE(found.paving.size() == 32);
    for (const auto& piece : found.paving) {
      const double ratio = width(piece.start[0]) / width(piece.start[1]);
      CHECK(ratio > 0.2);
      CHECK(ratio < 5);
    }
  }
}

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
}

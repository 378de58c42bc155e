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
}

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <string>

#include <perp/tests/schemes/located/models.hpp>

using namespace perp;
using perp::test::is_captured;
using perp::test::located_model;
using perp::test::run_located;

namespace {

/// `count` relays of as many states, all of which drive every state.
std::string relays(int count) {
  std::string variables, equations, sum;
  for (int i = 0; i < count; ++i) sum += fmt::format(" + 0.01*sign(x{})", i);
  for (int i = 0; i < count; ++i) {
    variables += fmt::format("x{} = {}\n", i, 2 + 0.1 * i);
    equations += fmt::format("  \"der(x{0}) = -x{0}{1}\",\n", i, sum);
  }
  return "[variables]\n" + variables + "[model]\nequations = [\n" + equations +
         "]\n[run]\nt = [0, 1]\n";
}

}  // namespace

TEST_SUITE("schemes/located/starts") {
  TEST_CASE(
      "laws that their argument decides are not enumerated: relays far from their switch start") {
    const Trajectory eight = run_located(located_model("eight_relays"), 1e-12);
    REQUIRE_MESSAGE(eight.status == Status::solved, eight.message);
    CHECK(std::abs(eight.x.back()[0] - (0.08 + 1.92 * std::exp(-1.0))) < 1e-13);
    for (const int count : {20, 40}) {
      const Trajectory run = run_located(relays(count), 1e-12);
      REQUIRE_MESSAGE(run.status == Status::solved, run.message);
      CHECK_FALSE(is_captured(run));
      const double rest = 0.01 * count;
      CHECK(std::abs(run.x.back()[0] - (rest + (2 - rest) * std::exp(-1.0))) < 1e-12);
    }
  }

  TEST_CASE("seven factors that switch start, and switch one after the other") {
    // ẋ = Π sign(y_i), ẏ_i = −1, y_i(0) = i + 1/2: the product changes its sign at 1/2, 3/2, ...
    std::string variables = "x = 0\n", equations, product;
    for (int i = 0; i < 7; ++i) {
      variables += fmt::format("y{} = {}\n", i, i + 0.5);
      equations += fmt::format(", \"der(y{}) = -1\"", i);
      product += fmt::format("{}sign(y{})", i > 0 ? "*" : "", i);
    }
    const Trajectory run =
        run_located("[variables]\n" + variables + "[model]\nequations = [\"der(x) = " + product +
                        "\"" + equations + "]\n[run]\nt = [0, 4]\n",
                    1e-12);
    REQUIRE_MESSAGE(run.status == Status::solved, run.message);
    CHECK_FALSE(is_captured(run));
    CHECK(run.events.size() == 4);
    CHECK(std::abs(run.x.back()[0] - (0.5 - 1 + 1 - 1 + 0.5)) < 1e-12);
  }
}

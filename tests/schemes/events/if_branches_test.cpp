#include <doctest/doctest.h>
#include <fmt/format.h>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include <perp/tests/schemes/located/models.hpp>

using namespace perp;
using perp::test::run_located;
using perp::test::system_of;

namespace {

/// x falls from 2 through 1, where the flow above ends, and on below the domain of its formula.
struct Falling {
  std::string flow;      ///< where x > 1
  double slope = 0;      ///< below
  double passes_at = 0;  ///< x = 1
};

const std::vector<Falling>& all() {
  const double root = 2 * (std::sqrt(1.25) - 0.5), pole = (1.25 * 1.25 - 0.25 * 0.25) / 2;
  static const std::vector<Falling> list{
      {"-sqrt(x - 0.75)", -0.1, root},
      {"-(x - 0.75)^0.5", -0.1, root},
      {"-1/(x - 0.75)", -0.25, pole},
      // with u = log(x - 1/2):  u' = -(2 + u)
      {"-(x - 0.5)*(2 + log(x - 0.5))", -0.3, std::log((2 + std::log(1.5)) / (2 + std::log(0.5)))},
      {"-1 - acos((x - 1)/2) - asin((x - 1)/2)", -0.3, 1 / (1 + std::numbers::pi / 2)},
      // too large for a double below x = 0.29
      {"-exp(1000*(1 - x)) - 1", -0.5, 1 - std::log(2) / 1000}};
  return list;
}

}  // namespace

TEST_SUITE("schemes/if_branches") {
  TEST_CASE("a branch of `if` that does not count needs no value") {
    for (const Falling& falling : all()) {
      CAPTURE(falling.flow);
      for (const bool is_located : {true, false}) {
        CAPTURE(is_located);
        const Model model = read_model_text(
            fmt::format("[variables]\nx = 2\n[model]\nequations = [\"der(x) = if(x > 1, {}, {})\"]\n[run]\nt = [0, 8]\n",
                        falling.flow, falling.slope),
            "falling");
        const Trajectory run =
            is_located ? run_located(model) : integrate(system_of(model), model.x0(), model.run.span, BackwardEuler{.h = 1e-3});
        CAPTURE(run.message);
        REQUIRE(run.status == Status::solved);
        CHECK(run.x.back()[0] ==
              doctest::Approx(1 + falling.slope * (8 - falling.passes_at)).epsilon(is_located ? 1e-9 : 2e-3));
      }
    }
  }
}

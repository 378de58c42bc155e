#include <doctest/doctest.h>
#include <cmath>

#include <perp/tests/schemes/located/models.hpp>

using namespace perp;
using perp::test::is_captured;
using perp::test::run_located;

TEST_SUITE("schemes/located/passage/index_three_laws") {
  TEST_CASE("an argument that holds multipliers, of index 3, goes on with first order and says so") {
    const Trajectory run = run_located(R"toml(
      [variables]
      x0 = -0.3
      x1 = 0.5
      [model]
      equations = ["der(x0) = 2*x1 - 0.5*x0 - l0 + l1 - 0.5", "2*der(x1) = -2*x0 - 0.1*x1 - l2 + l3"]
      laws = [
        "0 <= l0 perp -x0 >= 0",
        "0 <= l1 perp x0 - l2 >= 0",
        "0 <= l2 perp -x1 + l2 + l1 >= 0",
        "0 <= l3 perp x1 >= 0",
      ]
      [run]
      t = [0, 8])toml");
    REQUIRE_MESSAGE(run.status == Status::solved, run.message);
    CHECK(is_captured(run));
    // x0 = 0 from the jump at the start on: 2 x1' = -0.1 x1
    CHECK(std::abs(run.x.back()[0]) < 1e-12);
    CHECK(run.x.back()[1] == doctest::Approx(0.5 * std::exp(-0.4)).epsilon(1e-3));
  }
}

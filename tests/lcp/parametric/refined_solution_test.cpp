#include <doctest/doctest.h>
#include <cmath>

#include <perp/lcp/parametric/refined_solution.hpp>

using namespace perp;

TEST_SUITE("lcp/parametric/refined_solution") {
  TEST_CASE("an unknown keeps its digits beside uncoupled ones that are larger by any power of ten") {
    for (const double small : {1e-50, 1e-75, 1e-150, 1e-290}) {
      CAPTURE(small);
      // 3 y_0 = small; [2 1; 1 2] (y_1, y_2) = (1, 5)
      BoundedMatrix K(3, 3), R(3, 1), Y;
      K.set(0, 0, {3, 0});
      K.set(1, 1, {2, 0});
      K.set(1, 2, {1, 0});
      K.set(2, 1, {1, 0});
      K.set(2, 2, {2, 0});
      R.set(0, 0, {small, 0});
      R.set(1, 0, {1, 0});
      R.set(2, 0, {5, 0});
      REQUIRE(solve_bounded(K, R, Y));
      CHECK(Y.error(0, 0) <= 1e-28 * small);
      Y.snap();
      CHECK(Y.high(0, 0) == doctest::Approx(small / 3).epsilon(1e-15));
      CHECK(Y.high(1, 0) == doctest::Approx(-1).epsilon(1e-15));
      CHECK(Y.high(2, 0) == doctest::Approx(3).epsilon(1e-15));
    }
  }
}

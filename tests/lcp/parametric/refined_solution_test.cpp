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

  TEST_CASE("a column whose solution consists of doubles has no error, one beside it that does not keeps its own") {
    // [2 1 0; 1 2 0; 1 0 4] Y = [3 1; 3 0; 3 1]: (1, 1, 1/2) and (2/3, -1/3, 1/12)
    BoundedMatrix K(3, 3), R(3, 2), Y;
    K.high << 2, 1, 0, 1, 2, 0, 1, 0, 4;
    R.high << 3, 1, 3, 0, 3, 1;
    REQUIRE(solve_bounded(K, R, Y));
    CHECK(Y.high.col(0) == Vector{{1, 1, 0.5}});
    CHECK(Y.low.col(0).isZero(0));
    CHECK(Y.error.col(0).isZero(0));
    CHECK(Y.error.col(1).minCoeff() > 0);
    K.error(0, 1) = 1e-40;  // then nothing is known exactly
    REQUIRE(solve_bounded(K, R, Y));
    CHECK(Y.error.col(0).minCoeff() > 0);
  }
}

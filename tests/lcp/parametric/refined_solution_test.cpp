#include <doctest/doctest.h>
#include <cmath>

#include <perp/lcp/exact/arithmetic.hpp>
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

  TEST_CASE("solutions along a chain whose scales leave the range of doubles lie in their bounds") {
    // (1 + 2^-20) y_0 = r, (1 + 2^-20) y_i - 2^-20 y_(i-1) = 0: y_i = r 2^20 / (2^20 + 1)^(i+1)
    constexpr int n = 100;
    BoundedMatrix K(n, n), R(n, 1), Y;
    for (int i = 0; i < n; ++i) {
      K.set(i, i, {1 + 0x1p-20, 0});
      if (i > 0) K.set(i, i - 1, {-0x1p-20, 0});
    }
    R.set(0, 0, {3, 0});
    REQUIRE(solve_bounded(K, R, Y));
    Rational y(3);
    for (int i = 0; i < n; ++i) {
      CAPTURE(i);
      y /= Rational(1 + 0x1p-20);
      if (i > 0) y *= Rational(0x1p-20);
      const Rational value = Rational(Y.high(i, 0)) + Rational(Y.low(i, 0)), error(Y.error(i, 0));
      CHECK(value - error <= y);
      CHECK(y <= value + error);
      if (i < 40) CHECK(Y.error(i, 0) < 0x1p-80 * Y.high(0, 0));
    }
  }
}

#include <doctest/doctest.h>
#include <Eigen/Dense>
#include <random>

#include <perp/core/base/error.hpp>
#include <perp/core/pencil/pencil.hpp>

using perp::index_of;
using perp::Lcs;
using perp::Matrix;
using perp::Vector;

namespace {

Matrix random_matrix(std::mt19937_64& random, int n) {
  std::normal_distribution<double> normal;
  Matrix M(n, n);
  for (double& entry : M.reshaped()) entry = normal(random);
  return M;
}

/// Random matrix whose condition number is bounded.
Matrix random_regular(std::mt19937_64& random, int n) {
  return random_matrix(random, n) + 3 * std::sqrt(n) * Matrix::Identity(n, n);
}

/// diag(I, N) with one nilpotent Jordan block N of size `index` (none for 0), and diag(J, I).
std::pair<Matrix, Matrix> weierstrass(std::mt19937_64& random, int differential, int index) {
  const int n = differential + index;
  Matrix E = Matrix::Zero(n, n);
  Matrix A = Matrix::Identity(n, n);
  E.topLeftCorner(differential, differential).setIdentity();
  A.topLeftCorner(differential, differential) = random_matrix(random, differential);
  for (int k = 0; k + 1 < index; ++k) E(differential + k, differential + k + 1) = 1;
  return {E, A};
}

/// [RAB] eq. (9) with the constraint (11').
Lcs switching_dae() {
  Lcs lcs;
  lcs.E = Vector{{1, 1, 0}}.asDiagonal();
  lcs.A = Matrix{{0, 0, -0.5}, {0, 0, 1}, {0, -1, 0}};
  lcs.B = Matrix{{0}, {0}, {1}};
  lcs.C = Matrix{{1, 0, 0}};
  lcs.laws = {perp::abs_plus_sign()};
  return lcs;
}

}  // namespace

TEST_SUITE("core/pencil") {
  TEST_CASE("an ordinary differential equation has index 0") {
    CHECK(index_of(Matrix{{2, 1}, {0, 3}}, Matrix{{0, 1}, {1, 0}}) == 0);
  }

  TEST_CASE("a solvable algebraic equation has index 1") {
    // ẋ = x + z, 0 = x + z
    CHECK(index_of(Matrix{{1, 0}, {0, 0}}, Matrix{{1, 1}, {1, 1}}) == 1);
  }

  TEST_CASE("a constraint on the state with its multiplier has index 2, on positions index 3") {
    // ẋ = z, 0 = x
    CHECK(index_of(Matrix{{1, 0}, {0, 0}}, Matrix{{0, 1}, {1, 0}}) == 2);
    // q̇ = v, v̇ = z, 0 = q
    CHECK(index_of(Matrix{{1, 0, 0}, {0, 1, 0}, {0, 0, 0}},
                   Matrix{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}) == 3);
  }

  TEST_CASE(
      "a constraint whose first derivative loses the multiplier by cancellation has index 3") {
    // ẋ = A x + B z, 0 = C x with C B = 0 up to rounding and C A B != 0
    std::mt19937_64 random(3);
    for (int trial = 0; trial < 50; ++trial) {
      const Matrix A = random_matrix(random, 4), B = random_matrix(random, 4).col(0);
      Matrix C = random_matrix(random, 4).row(0);
      C -= (C * B).value() / B.squaredNorm() * B.transpose();
      if (std::abs((C * A * B).value()) < 0.1) continue;
      Matrix E = Matrix::Zero(5, 5), F = Matrix::Zero(5, 5);
      E.topLeftCorner(4, 4).setIdentity();
      F.topLeftCorner(4, 4) = A;
      F.topRightCorner(4, 1) = B;
      F.bottomLeftCorner(1, 4) = C;
      CAPTURE(trial);
      CHECK(index_of(E, F) == 3);
    }
  }

  TEST_CASE("a singular pencil has no index") {
    CHECK_FALSE(index_of(Matrix{{1, 0}, {0, 0}}, Matrix{{1, 1}, {0, 0}}).has_value());
    CHECK_FALSE(index_of(Matrix{{0, 0}, {0, 0}}, Matrix{{1, 1}, {1, 1}}).has_value());
    // ẋ = z, 0 = 0·z: z is free
    CHECK_FALSE(index_of(Matrix{{1, 0}, {0, 0}}, Matrix{{0, 1}, {0, 0}}).has_value());
    // Two rows that agree up to a rounding error.
    CHECK_FALSE(index_of(Matrix{{1, 2}, {0.1, 0.2}}, Matrix{{3, 4}, {0.3, 0.4}}).has_value());
  }

  TEST_CASE("pencils made from the Weierstrass form have the index of their nilpotent block") {
    std::mt19937_64 random(20240611);
    for (int trial = 0; trial < 200; ++trial) {
      const int differential = trial % 5;
      const int index = differential == 0 ? 1 + trial % 4 : trial % 5;
      const auto [E, A] = weierstrass(random, differential, index);
      const int n = static_cast<int>(E.rows());
      const Matrix P = random_regular(random, n);
      const Matrix Q = random_regular(random, n);
      CAPTURE(trial);
      CAPTURE(differential);
      CHECK(index_of(P * E * Q, P * A * Q) == index);
    }
  }

  TEST_CASE("the index does not depend on the units of equations and unknowns") {
    std::mt19937_64 random(7);
    std::uniform_int_distribution<int> exponent(-20, 20);
    for (int trial = 0; trial < 100; ++trial) {
      auto [E, A] = weierstrass(random, 2, 1 + trial % 3);
      for (Eigen::Index i = 0; i < E.rows(); ++i) {
        const double row = std::ldexp(1, exponent(random));
        const double column = std::ldexp(1, exponent(random));
        E.row(i) *= row;
        A.row(i) *= row;
        E.col(i) *= column;
        A.col(i) *= column;
      }
      CAPTURE(trial);
      CHECK(index_of(E, A) == 1 + trial % 3);
    }
  }

  TEST_CASE("fast and slow parts in one system do not make it singular") {
    // 1 pF beside 1 F: 1e-12 v̇ = -1e-3 v + i, ẋ = -x, 0 = i - 1e-3 v
    const Matrix E = Vector{{1e-12, 1, 0}}.asDiagonal();
    CHECK(index_of(E, Matrix{{-1e-3, 0, 1}, {0, -1, 0}, {-1e-3, 0, 1}}) == 1);
  }

  TEST_CASE("shapes are checked") {
    CHECK_THROWS_AS(index_of(Matrix::Zero(2, 3), Matrix::Zero(2, 2)), perp::InvalidInput);
    CHECK_THROWS_AS(perp::mode_dae(switching_dae(), {}), perp::InvalidInput);
    CHECK_THROWS_AS(perp::mode_dae(switching_dae(), {3}), perp::InvalidInput);
  }

  TEST_CASE("the switching DAE of [RAB] has index 2 in every mode") {
    for (int branch = 0; branch < 3; ++branch) {
      const perp::ModeDae dae = perp::mode_dae(switching_dae(), {branch});
      CHECK(index_of(dae.E, dae.A) == 2);
    }
  }

  TEST_CASE("B1 + B2 = 0 makes mode 1 of the switching DAE singular, B1 = B2 mode 2") {
    Lcs lcs = switching_dae();
    lcs.A(0, 2) = -1;
    const auto index = [&](int branch) {
      const perp::ModeDae dae = perp::mode_dae(lcs, {branch});
      return index_of(dae.E, dae.A);
    };
    CHECK_FALSE(index(0).has_value());
    CHECK(index(1) == 2);
    CHECK(index(2) == 2);
    lcs.A(0, 2) = 1;
    CHECK(index(0) == 2);
    CHECK_FALSE(index(2).has_value());
  }

  TEST_CASE("multipliers that a mode fixes do not count: a relay's outer modes have index 0") {
    Lcs lcs;
    lcs.A = Matrix{{0}};
    lcs.B = Matrix{{-1}};
    lcs.C = Matrix{{1}};
    lcs.laws = {perp::sign()};
    const auto index = [&](int branch) {
      const perp::ModeDae dae = perp::mode_dae(lcs, {branch});
      return index_of(dae.E, dae.A);
    };
    CHECK(index(0) == 0);
    CHECK(index(1) == 2);  // sliding: w = x = 0 determines λ
    CHECK(index(2) == 0);
  }

  TEST_CASE("the condition of a matrix is judged after scaling") {
    CHECK(perp::scaled_reciprocal_condition(Vector{{1e-9, 1e9}}.asDiagonal()) > 0.2);
    CHECK(perp::scaled_reciprocal_condition(Matrix{{1, 2}, {2, 4}}) < 1e-15);
    CHECK(perp::scaled_reciprocal_condition(Matrix::Zero(2, 2)) == 0);
  }
}

#include <doctest/doctest.h>
#include <cmath>
#include <Eigen/LU>

#include <perp/core/pencil/constraint_product.hpp>
#include <perp/tests/schemes/switching_dae.hpp>

using namespace perp;

TEST_SUITE("core/constraint_product") {
  TEST_CASE("[RAB]: |C_i B| is |B1 + B2|, |B1|, |B2 - B1| in the three modes") {
    for (const auto& [B1, B2] : {std::pair{-0.5, 1.0}, {2.0, 1.0}, {1.0, -3.0}}) {
      const double wanted[] = {std::abs(B1 + B2), std::abs(B1), std::abs(B2 - B1)};
      for (int mode = 0; mode < 3; ++mode) {
        const Matrix product = constraint_product(mode_dae(switching_dae::own_law(B1, B2), {mode}));
        REQUIRE(product.size() == 1);
        CHECK(std::abs(product(0, 0)) == doctest::Approx(wanted[mode]));
      }
    }
  }

  TEST_CASE("no constraint is left where the index is at most 1") {
    CHECK(constraint_product({Matrix{{1}}, Matrix{{2}}}).size() == 0);
    // 0 = x + 2 z determines z.
    CHECK(constraint_product({Matrix{{1, 0}, {0, 0}}, Matrix{{0, 1}, {1, 2}}}).size() == 0);
  }

  TEST_CASE("index 3 has a singular product: a mass on a rail") {
    // x' = v, v' = z, 0 = x
    const ModeDae rail{Matrix{{1, 0, 0}, {0, 1, 0}, {0, 0, 0}},
                       Matrix{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}};
    CHECK(index_of(rail.E, rail.A) == 3);
    const Matrix product = constraint_product(rail);
    REQUIRE(product.size() == 1);
    CHECK(std::abs(product(0, 0)) < 1e-14);
  }

  TEST_CASE("a determinant does not depend on how equations are combined and unknowns turned") {
    // x' = z, y' = 2 u, 0 = x + y, 0 = y: C B = [1 2; 0 2].
    Matrix E = Matrix::Zero(4, 4), A = Matrix::Zero(4, 4);
    E(0, 0) = E(1, 1) = 1;
    A(0, 2) = 1;
    A(1, 3) = 2;
    A(2, 0) = A(2, 1) = A(3, 1) = 1;
    CHECK(std::abs(constraint_product({E, A}).determinant()) == doctest::Approx(2));
    const double c = std::cos(0.4), s = std::sin(0.4);
    Matrix turn = Matrix::Identity(4, 4);
    turn(0, 0) = turn(2, 2) = c;
    turn(0, 2) = s;
    turn(2, 0) = -s;
    const Matrix product = constraint_product({turn * E * turn, turn * A * turn});
    REQUIRE(product.rows() == 2);
    CHECK(std::abs(product.determinant()) == doctest::Approx(2));
  }
}

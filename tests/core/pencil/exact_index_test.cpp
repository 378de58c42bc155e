#include <doctest/doctest.h>
#include <cmath>
#include <random>

#include <perp/core/pencil/exact_index.hpp>

using namespace perp;

namespace {

/// A DAE without laws.
Lcs dae(const Matrix& E, const Matrix& A) {
  return {.E = E, .A = A, .B = Matrix(E.rows(), 0), .C = Matrix(0, E.cols()), .D = Matrix(0, 0)};
}

}  // namespace

TEST_SUITE("core/exact_index") {
  TEST_CASE("a chain of n differentiations has the index n, in all units and orders") {
    std::mt19937 random(5);
    std::uniform_int_distribution<int> power(-40, 40), entry(-3, 3);
    for (int trial = 0; trial < 60; ++trial) {
      const int n = 1 + trial % 5;
      // N v' = v, N nilpotent, mixed by unimodular matrices.
      Matrix E = Matrix::Zero(n, n), A = Matrix::Identity(n, n), P = Matrix::Identity(n, n);
      for (int i = 0; i + 1 < n; ++i) E(i, i + 1) = 1;
      for (int i = 0; i < n; ++i)
        for (int j = i + 1; j < n; ++j) P(i, j) = entry(random);
      E = (P * E * P.transpose()).eval(), A = (P * A * P.transpose()).eval();
      for (int i = 0; i < n; ++i) {
        const double row = std::ldexp(1, power(random)), column = std::ldexp(1, power(random));
        E.row(i) *= row, A.row(i) *= row, E.col(i) *= column, A.col(i) *= column;
      }
      CHECK(exact_index(dae(E, A), {}) == n);
    }
  }

  TEST_CASE("a singular pencil has none, whatever the units") {
    for (const double u : {1.0, 0x1p-30, 0x1p30}) {
      const Matrix E{{1, u}, {2, 2 * u}}, A{{3, 3 * u}, {1, u}};
      CHECK_FALSE(exact_index(dae(E, A), {}));
    }
  }

  TEST_CASE("multipliers that a mode gives explicitly do not count") {
    const Lcs relay{.E = Matrix{{1}}, .A = Matrix{{0}}, .B = Matrix{{-1}}, .C = Matrix{{1}}, .D = Matrix{{0}},
                    .laws = {sign()}};
    CHECK(exact_index(relay, {0}) == 0);
    CHECK(exact_index(relay, {1}) == 2);
    CHECK(exact_index(relay, {2}) == 0);
  }
}

#include <doctest/doctest.h>
#include <random>

#include <perp/core/base/error.hpp>
#include <perp/core/system/algebraic_rows.hpp>
#include <perp/core/system/sparse_lcs.hpp>

namespace perp {
namespace {

/// Springs in a row as E: its rows sum to 0 where no end is held.
SparseLcs row_of_springs(int n, bool is_held) {
  Lcs lcs{.E = Matrix::Zero(n, n), .A = -Matrix::Identity(n, n), .b = Vector(Vector::LinSpaced(n, 1, 2))};
  for (int i = 0; i + 1 < n; ++i) {
    lcs.E(i, i) += 1, lcs.E(i + 1, i + 1) += 1;
    lcs.E(i, i + 1) = lcs.E(i + 1, i) = -1;
  }
  if (is_held) lcs.E(0, 0) += 1;
  return sparse(lcs);
}

int rows_without_rate(const SparseLcs& lcs) {
  int count = 0;
  for (int i = 0; i < lcs.n(); ++i) count += lcs.E.row(i).empty();
  return count;
}

}  // namespace

TEST_SUITE("core/system/sparse_lcs") {
  TEST_CASE("a system by its entries is the system, what is left out filled in") {
    const Lcs lcs{.A = Matrix{{-1, 2}, {0, -3}}, .B = Matrix{{1}, {0}}, .C = Matrix{{0, 1}}, .laws = {sign()}};
    const Lcs again = dense(sparse(lcs)), wanted = validated(lcs);
    CHECK(again.E == wanted.E);
    CHECK(again.A == wanted.A);
    CHECK(again.B == wanted.B);
    CHECK(again.C == wanted.C);
    CHECK(again.D == wanted.D);
    CHECK(again.b(0) == wanted.b(0));
    CHECK(again.q(0) == wanted.q(0));
    CHECK_THROWS_AS(sparse(Lcs{.A = Matrix{{1, 2}}}), InvalidInput);
  }

  TEST_CASE("equations and matrices lead to each other by their entries alone") {
    const SparseLcs lcs = row_of_springs(50, true);
    const std::optional<SparseLcs> again = as_sparse_lcs(as_dcs(lcs));
    REQUIRE(again);
    CHECK(again->E.dense() == lcs.E.dense());
    CHECK(again->A.dense() == lcs.A.dense());
    CHECK(again->b(0) == lcs.b(0));
  }

  TEST_CASE("of many rows of E that are regular none becomes an equation, of singular ones the one that depends") {
    for (const int n : {5, 40, 200}) {
      CAPTURE(n);
      SparseLcs held = row_of_springs(n, true);
      CHECK_FALSE(separate_algebraic_rows(held));
      CHECK(rows_without_rate(held) == 0);
      SparseLcs loose = row_of_springs(n, false);
      const Vector b = loose.b(0);
      separate_algebraic_rows(loose);
      REQUIRE(rows_without_rate(loose) == 1);
      REQUIRE(loose.E.row(n - 1).empty());
      for (int j = 0; j < n; ++j) CHECK(loose.A(n - 1, j) == -1);  // the sum of all rows
      CHECK(loose.b(0)[n - 1] == doctest::Approx(b.sum()));
    }
  }
}

}  // namespace perp

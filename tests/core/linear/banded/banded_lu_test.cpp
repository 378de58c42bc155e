#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include <perp/core/linear/banded/banded_lu.hpp>
#include <perp/core/linear/lu.hpp>

using namespace perp;

namespace {

Matrix random_banded(std::mt19937& random, int n, int below, int above) {
  std::uniform_real_distribution<double> entry(-1, 1);
  Matrix A = Matrix::Zero(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = std::max(0, i - below); j <= std::min(n - 1, i + above); ++j)
      A(i, j) = entry(random);
  return A;
}

linear::BandedLu banded(const Matrix& A, int below, int above) {
  const int n = static_cast<int>(A.rows());
  linear::BandedLu lu(n, below, above);
  lu.clear();
  for (int i = 0; i < n; ++i)
    for (int j = std::max(0, i - below); j <= std::min(n - 1, i + above); ++j)
      lu.entry(i, j) = A(i, j);
  return lu;
}

}  // namespace

TEST_SUITE("core/linear/banded/banded_lu") {
  TEST_CASE("solutions are those of the full matrix, and of its transpose") {
    std::mt19937 random(5);
    for (int trial = 0; trial < 300; ++trial) {
      const int n = 1 + trial % 17, below = trial % 4, above = trial / 4 % 4;
      const Matrix A = random_banded(random, n, below, above) + 2 * Matrix::Identity(n, n);
      linear::BandedLu lu = banded(A, below, above);
      REQUIRE(lu.factorise());
      const Vector x = random_banded(random, n, n, n).col(0);
      Vector solution = A * x, transposed = A.transpose() * x;
      lu.solve(solution.data());
      lu.solve_transposed(transposed.data());
      const double condition =
          (A.cwiseAbs() * linear::Lu(A).solve(Matrix(Matrix::Identity(n, n))).cwiseAbs())
              .maxCoeff();
      CHECK((solution - x).lpNorm<Eigen::Infinity>() <= 1e-14 * condition * n);
      CHECK((transposed - x).lpNorm<Eigen::Infinity>() <= 1e-14 * condition * n);
    }
  }

  TEST_CASE("bands that are wider than the entries change no bit of a solution or a bound") {
    std::mt19937 random(11);
    for (int trial = 0; trial < 300; ++trial) {
      const int n = 2 + trial % 17, below = trial % 3, above = trial / 3 % 3;
      const Matrix A = random_banded(random, n, below, above) + (trial % 2) * Matrix::Identity(n, n);
      linear::BandedLu narrow = banded(A, below, above), wide = banded(A, n - 1, n - 1);
      const bool is_regular = narrow.factorise() && narrow.find_weights();
      REQUIRE((wide.factorise() && wide.find_weights()) == is_regular);
      if (!is_regular) continue;
      const Vector x = random_banded(random, n, n, n).col(0);
      for (int question = 0; question < 4; ++question) {
        Vector first = question < 2 ? x : Vector(x.cwiseAbs()), second = first;
        for (auto [lu, y] : {std::pair(&narrow, &first), std::pair(&wide, &second)}) {
          if (question == 0) lu->solve(y->data());
          if (question == 1) lu->solve_transposed(y->data());
          if (question == 2) CHECK(lu->bound_by_weights(y->data()));
          if (question == 3) lu->bound_rest(y->data());
        }
        CHECK(first == second);
      }
    }
  }

  TEST_CASE(
      "a bound of |A^-1| x is none below it, and is it for a matrix with the signs of an "
      "M-matrix") {
    std::mt19937 random(6);
    int bounded = 0, with_weights = 0;
    for (int trial = 0; trial < 300; ++trial) {
      const int n = 1 + trial % 12, below = trial % 4, above = trial / 4 % 4;
      Matrix A = random_banded(random, n, below, above);
      const bool is_M = trial % 2 == 0;
      if (is_M) A = Matrix((n + 1.0) * Matrix::Identity(n, n) - A.cwiseAbs());
      linear::BandedLu lu = banded(A, below, above);
      if (!lu.factorise()) continue;
      Vector bound = random_banded(random, n, n, n).col(0).cwiseAbs(), work(n);
      const Vector exact = linear::FullLu(A).inverse().cwiseAbs() * bound;
      Vector weighted = bound;
      if (lu.find_weights() && lu.bound_by_weights(weighted.data())) {
        ++with_weights;
        CHECK((weighted.array() >= exact.array()).all());
        if (is_M) CHECK((weighted.array() <= 1.001 * exact.array() + 1e-12 * exact.maxCoeff()).all());
      }
      if (!lu.bound(bound.data(), work.data())) continue;
      ++bounded;
      CHECK((bound.array() >= exact.array()).all());
      if (is_M) CHECK((bound.array() <= 2.001 * exact.array()).all());
    }
    CHECK(bounded > 200);
    CHECK(with_weights >= bounded);
  }

  TEST_CASE("bounds of two right sides at once have the bits of each alone") {
    std::mt19937 random(8);
    int compared = 0;
    for (int trial = 0; trial < 100; ++trial) {
      const int n = 1 + trial % 12, below = trial % 4, above = trial / 4 % 4;
      linear::BandedLu lu = banded(random_banded(random, n, below, above), below, above);
      if (!lu.factorise() || !lu.find_weights()) continue;
      Vector first = random_banded(random, n, n, n).col(0).cwiseAbs(), second = 0.01 * first.reverse();
      if (trial % 3 == 0) second.setZero();
      Vector alone = first, other = second;
      REQUIRE(lu.bound_by_weights(alone.data()));
      REQUIRE(lu.bound_by_weights(other.data()));
      // The last entry first.
      std::vector<int> place(static_cast<std::size_t>(n));
      for (int i = 0; i < n; ++i) place[static_cast<std::size_t>(i)] = n - 1 - i;
      Vector first_back = first.reverse(), second_back = second.reverse();
      REQUIRE(lu.bound_by_weights(first_back.data(), second_back.data(), place.data(), place.data()));
      CHECK(first_back.reverse() == alone);
      CHECK(second_back.reverse() == other);
      ++compared;
    }
    CHECK(compared > 60);
  }

  TEST_CASE("bounds of parts that share no row are in units of their own") {
    Matrix A = Matrix::Zero(4, 4);
    A.topLeftCorner(2, 2) << 3, 1, 1, 2;
    A.bottomRightCorner(2, 2) << 5, 2, 1, 4;
    linear::BandedLu lu = banded(A, 1, 1);
    REQUIRE(lu.factorise());
    REQUIRE(lu.find_weights());
    Vector first(4);
    first << 1e-16, 3e-16, 2e-16, 1e-16;
    Vector bound = first;
    REQUIRE(lu.bound_by_weights(bound.data()));
    for (const int k : {-300, -7, 1, 40, 300}) {
      CAPTURE(k);
      Vector other = first;
      other.tail(2) *= std::ldexp(1.0, k);
      REQUIRE(lu.bound_by_weights(other.data()));
      CHECK(other.head(2) == bound.head(2));
      CHECK(other.tail(2) == std::ldexp(1.0, k) * bound.tail(2));
    }
  }

  TEST_CASE("unknowns on which others do not act keep their bounds, however large those of the others are") {
    const int n = 80;
    Matrix A = Matrix::Zero(n, n);
    for (int i = 0; i < n; ++i) A(i, i) = 1.03;
    for (int i = 1; i < n; ++i) A(i, i - 1) = -0.9;
    linear::BandedLu lu = banded(A, 1, 1);
    REQUIRE(lu.factorise());
    REQUIRE(lu.find_weights());
    std::vector<double> bound(n);
    for (int i = 0; i < n; ++i) bound[static_cast<std::size_t>(i)] = 1e-16 * std::pow(3.0, i);
    std::vector<double> right = bound;
    REQUIRE(lu.bound_by_weights(bound.data()));
    double exact = 0;  // |A⁻¹| of the right side, row by row
    for (int i = 0; i < n; ++i) {
      exact = (right[static_cast<std::size_t>(i)] + 0.9 * exact) / 1.03;
      CAPTURE(i);
      CHECK(bound[static_cast<std::size_t>(i)] >= exact * (1 - 1e-12));
      CHECK(bound[static_cast<std::size_t>(i)] <= exact * 1.001);
    }
  }

  TEST_CASE("what a solution leaves of its right side is within its bound, and that is roundings of the factors") {
    std::mt19937 random(9);
    for (int trial = 0; trial < 300; ++trial) {
      const int n = 1 + trial % 17, below = trial % 4, above = trial / 4 % 4;
      const Matrix A = random_banded(random, n, below, above);
      linear::BandedLu lu = banded(A, below, above);
      if (!lu.factorise()) continue;
      const Vector b = random_banded(random, n, n, n).col(0);
      Vector z = b;
      lu.solve(z.data());
      Vector bound = z.cwiseAbs();
      lu.bound_rest(bound.data());
      for (int i = 0; i < n; ++i) {
        long double rest = -b[i];
        for (int j = 0; j < n; ++j) rest += static_cast<long double>(A(i, j)) * z[j];
        CHECK(std::abs(static_cast<double>(rest)) <= bound[i]);
      }
      const double pivots = std::pow(2.0, below);  // the growth of factors with partial pivoting
      CHECK(bound.maxCoeff() <= 100.0 * n * n * pivots * unit_roundoff * z.cwiseAbs().maxCoeff());
    }
  }

  TEST_CASE("a singular matrix has no factors, and one that is singular to rounding no bound") {
    linear::BandedLu zero = banded(Matrix{{1, 1}, {1, 1}}, 1, 1);
    CHECK_FALSE(zero.factorise());
    linear::BandedLu near = banded(Matrix{{1, 1}, {1, 1 + 0x1p-52}}, 1, 1);
    REQUIRE(near.factorise());
    Vector bound{{1, 1}}, work(2);
    CHECK_FALSE(near.bound(bound.data(), work.data()));
  }

  TEST_CASE("the order of a chain in any order has one band on either side") {
    std::mt19937 random(7);
    std::vector<int> name(40);
    for (int i = 0; i < 40; ++i) name[static_cast<std::size_t>(i)] = i;
    std::shuffle(name.begin(), name.end(), random);
    linear::Pattern rows(40);
    for (std::size_t i = 0; i + 1 < 40; ++i)
      rows[static_cast<std::size_t>(name[i])].push_back(name[i + 1]);
    const std::vector<int> place = linear::banded_order(rows);
    for (std::size_t i = 0; i + 1 < 40; ++i)
      CHECK(std::abs(place[static_cast<std::size_t>(name[i])] -
                     place[static_cast<std::size_t>(name[i + 1])]) == 1);
  }

  TEST_CASE("equations of a chain in another order than its unknowns have the bands of a chain, each beside its largest entry") {
    constexpr int n = 600;
    std::mt19937 random(7);
    std::vector<int> row(n), column(n);
    for (std::vector<int>* names : {&row, &column}) {
      for (std::size_t i = 0; i < n; ++i) (*names)[i] = static_cast<int>(i);
      std::shuffle(names->begin(), names->end(), random);
    }
    linear::Pattern rows(n);
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<int>& list = rows[static_cast<std::size_t>(row[i])];
      list.push_back(column[i]);
      if (i > 0) list.push_back(column[i - 1]);
      if (i + 1 < n) list.push_back(column[i + 1]);
    }
    const linear::BandedOrder order = linear::banded_order_of(rows);
    CHECK(order.below == 1);
    CHECK(order.above == 1);
    for (std::size_t i = 0; i < n; ++i)
      CHECK(order.rows[static_cast<std::size_t>(row[i])] == order.columns[static_cast<std::size_t>(column[i])]);
  }

  TEST_CASE("rows that hold their own columns stay beside them") {
    linear::Pattern rows(600);
    for (std::size_t i = 0; i < 600; ++i) rows[i] = {static_cast<int>((7 * i + 3) % 600), static_cast<int>(i)};
    const linear::BandedOrder order = linear::banded_order_of(rows);
    CHECK(order.rows == order.columns);
    CHECK(order.rows == linear::banded_order(rows));
  }
}

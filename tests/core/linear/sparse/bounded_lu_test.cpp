#include <doctest/doctest.h>
#include <cmath>
#include <random>
#include <vector>

#include <perp/core/base/index.hpp>
#include <perp/core/linear/lu.hpp>
#include <perp/core/linear/sparse/bounded_lu.hpp>

using namespace perp;
using linear::BoundedLu;
using linear::RowPattern;

namespace {

/// A full diagonal and some entries beside it; `is_M`: the signs of an M-matrix, whose rows are dominated by their diagonal.
Matrix random_sparse(std::mt19937& random, int n, bool is_M) {
  std::uniform_real_distribution<double> entry(-1, 1);
  Matrix A = Matrix::Zero(n, n);
  for (int i = 0; i < n; ++i) A(i, i) = entry(random) + 2;
  for (int k = 0; k < 2 * n; ++k) A(std::abs(static_cast<int>(random() % 1000)) % n, static_cast<int>(random() % 1000) % n) += entry(random);
  if (!is_M) return A;
  Matrix M = -A.cwiseAbs();
  for (int i = 0; i < n; ++i) M(i, i) = 0;
  M.diagonal() = -1.5 * M.rowwise().sum() + Vector::Ones(n);
  return M;
}

/// With some places beside those of the entries, which are 0.
BoundedLu factors_of(const Matrix& A, int beside = 3) {
  RowPattern pattern;
  for (int i = 0; i < A.rows(); ++i) {
    for (int j = 0; j < A.cols(); ++j)
      if (A(i, j) != 0 || (i + 2 * j) % 7 < beside) pattern.column.push_back(j);
    pattern.start.push_back(static_cast<int>(pattern.column.size()));
  }
  BoundedLu lu(pattern);
  lu.clear();
  for (int i = 0; i < A.rows(); ++i)
    for (int j = 0; j < A.cols(); ++j)
      if (A(i, j) != 0) lu.add(i, j, A(i, j));
  return lu;
}

Vector random_vector(std::mt19937& random, int n) {
  std::uniform_real_distribution<double> entry(0.1, 1);
  Vector x(n);
  for (double& value : x) value = entry(random);
  return x;
}

}  // namespace

TEST_SUITE("core/linear/sparse/bounded_lu") {
  TEST_CASE("solutions are those of the full matrix, and of its transpose") {
    std::mt19937 random(7);
    for (int trial = 0; trial < 200; ++trial) {
      const int n = 1 + trial % 23;
      const Matrix A = random_sparse(random, n, trial % 2 == 0);
      const Matrix inverse = linear::FullLu(A).inverse();
      const double condition = (A.cwiseAbs() * inverse.cwiseAbs()).maxCoeff();
      if (!(condition < 1e6)) continue;
      BoundedLu lu = factors_of(A);
      REQUIRE(lu.factorise());
      const Vector x = random_vector(random, n);
      Vector solution = A * x, transposed = A.transpose() * x;
      lu.solve(solution.data());
      lu.solve_transposed(transposed.data());
      CHECK((solution - x).lpNorm<Eigen::Infinity>() <= 1e-14 * condition * n);
      CHECK((transposed - x).lpNorm<Eigen::Infinity>() <= 1e-14 * condition * n);
    }
  }

  TEST_CASE("a bound of |A^-1| x is none below it, and is it for an M-matrix; what a solution leaves of its right side is bounded") {
    std::mt19937 random(9);
    int bounded = 0;
    for (int trial = 0; trial < 300; ++trial) {
      const int n = 1 + trial % 23;
      const bool is_M = trial % 2 == 0;
      const Matrix A = random_sparse(random, n, is_M);
      BoundedLu lu = factors_of(A, trial % 4);
      if (!lu.factorise() || !lu.find_weights()) continue;
      ++bounded;
      const Vector x = random_vector(random, n);
      const Vector exact = linear::FullLu(A).inverse().cwiseAbs() * x;
      Vector bound = x;
      REQUIRE(lu.bound_by_weights(bound.data()));
      CHECK((bound.array() >= exact.array() * (1 - 1e-9)).all());
      if (is_M) CHECK((bound.array() <= 1.001 * exact.array() + 1e-12 * exact.maxCoeff()).all());
      Vector solution = x;
      lu.solve(solution.data());
      Vector rest = solution.cwiseAbs();
      lu.bound_rest(rest.data());
      for (int i = 0; i < n; ++i) {
        long double sum = -static_cast<long double>(x[i]);
        for (int j = 0; j < n; ++j) sum += static_cast<long double>(A(i, j)) * static_cast<long double>(solution[j]);
        CHECK(std::abs(sum) <= static_cast<long double>(rest[i]));
      }
    }
    CHECK(bounded > 250);
  }

  TEST_CASE("bounds of two right sides at once have the bits of each alone") {
    std::mt19937 random(8);
    for (int trial = 0; trial < 60; ++trial) {
      const int n = 2 + trial % 12;
      BoundedLu lu = factors_of(random_sparse(random, n, true));
      REQUIRE((lu.factorise() && lu.find_weights()));
      Vector first = random_vector(random, n), second = 0.01 * first.reverse();
      if (trial % 3 == 0) second.setZero();
      Vector alone = first, other = second;
      REQUIRE(lu.bound_by_weights(alone.data()));
      REQUIRE(lu.bound_by_weights(other.data()));
      std::vector<int> place(at(n));
      for (int i = 0; i < n; ++i) place[at(i)] = n - 1 - i;
      Vector first_back = first.reverse(), second_back = second.reverse();
      REQUIRE(lu.bound_by_weights(first_back.data(), second_back.data(), place.data(), place.data()));
      CHECK(first_back.reverse() == alone);
      CHECK(second_back.reverse() == other);
    }
  }

  TEST_CASE("bounds of parts that share no row are in units of their own") {
    Matrix A = Matrix::Zero(4, 4);
    A.topLeftCorner(2, 2) << 3, 1, 1, 2;
    A.bottomRightCorner(2, 2) << 5, 2, 1, 4;
    BoundedLu lu = factors_of(A, 7);  // all places are in the pattern
    REQUIRE((lu.factorise() && lu.find_weights()));
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

  TEST_CASE("a singular matrix has no factors, or none that bounds are known of; the next one has them again") {
    Matrix A(3, 3);
    A << 1, 2, 3, 4, 5, 6, 7, 8, 9;
    BoundedLu lu = factors_of(A, 7);
    CHECK_FALSE((lu.factorise() && lu.find_weights()));
    lu.add(2, 2, 1);
    CHECK((lu.factorise() && lu.find_weights()));
    Vector x(3);
    x << 14, 32, 53;  // 1, 2, 3
    lu.solve(x.data());
    CHECK(x[0] == doctest::Approx(1));
    CHECK(x[2] == doctest::Approx(3));
  }
}

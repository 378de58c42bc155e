#include <doctest/doctest.h>
#include <algorithm>
#include <random>
#include <vector>

#include <perp/core/linear/rank_elimination.hpp>

namespace perp::linear {
namespace {

/// `beside` entries in each row, of which some are ±1, so that pivots tie; the last `dependent` rows are sums of two others.
Matrix few_entries(std::mt19937& random, int rows, int columns, int beside, int dependent) {
  std::uniform_real_distribution<double> number(-1, 1);
  std::uniform_int_distribution<int> column(0, columns - 1), row(0, rows - dependent - 1);
  Matrix A = Matrix::Zero(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int k = 0; k < beside; ++k) A(i, column(random)) = k % 2 == 0 ? std::copysign(1.0, number(random)) : number(random);
  for (int i = rows - dependent; i < rows; ++i) A.row(i) = A.row(row(random)) - A.row(row(random));
  return A;
}

/// The results of an elimination of A by entries are those of the dense one.
void check_alike(std::mt19937& random, const Matrix& A) {
  std::uniform_real_distribution<double> number(0.5, 2);
  const Vector sizes = Vector::NullaryExpr(A.cols(), [&] { return number(random); });
  const Vector row_sizes = A.cwiseAbs() * sizes, right = Vector::NullaryExpr(A.rows(), [&] { return number(random); });
  RankElimination dense;
  SparseRank sparse;
  dense.factorise(A, sizes, row_sizes, 1e-11);
  sparse.factorise(SparseMatrix(A), sizes, row_sizes, 1e-11);
  CHECK(sparse.rank() == dense.rank());
  Vector of_dense, of_sparse;
  dense.solve(right, of_dense);
  sparse.solve(right, of_sparse);
  CHECK(of_sparse == of_dense);
  Matrix basis;
  dense.null_space(basis);
  CHECK(sparse.null_space().dense() == basis);
}

TEST_CASE("an elimination by entries has the pivots of the dense one, to the bit, whatever the rank and where entries tie") {
  std::mt19937 random(7);
  for (int run = 0; run < 200; ++run) {
    CAPTURE(run);
    // Small enough for the dense one.
    check_alike(random, few_entries(random, 20 + run % 9, 16 + run % 15, 2, run % 4));
    check_alike(random, few_entries(random, 24, 28, 3, run % 2));
    check_alike(random, few_entries(random, 30, 24, 6, 0));  // it fills
  }
}

TEST_CASE("a large elimination by entries solves what is regular and finds what is open") {
  std::mt19937 random(3);
  const int n = 300;
  Matrix A = few_entries(random, n, n, 2, 0);
  for (int i = 0; i < n; ++i) A(i, i) = 4;
  const Vector ones = Vector::Ones(n), row_sizes = A.cwiseAbs() * ones;
  RankElimination elimination;
  elimination.factorise(SparseMatrix(A), ones, row_sizes, 1e-11);
  CHECK(elimination.rank() == n);
  Vector x;
  elimination.solve(A * ones, x);
  CHECK((x - ones).cwiseAbs().maxCoeff() <= 1e-13);
  // The same to the bit from the matrix in full.
  Vector again;
  RankElimination full;
  full.factorise(A, ones, row_sizes, 1e-11);
  full.solve(A * ones, again);
  CHECK(again == x);

  A.col(17) = A.col(40) + A.col(203);
  elimination.factorise(SparseMatrix(A), ones, row_sizes, 1e-11);
  CHECK(elimination.rank() == n - 1);
  const Matrix basis = elimination.null_space().dense();
  REQUIRE(basis.cols() == 1);
  CHECK(basis.cwiseAbs().maxCoeff() == 1);
  CHECK((A * basis).cwiseAbs().maxCoeff() <= 1e-14);
}

TEST_CASE("the first of the largest entries is found whatever changes") {
  std::mt19937 random(11);
  std::uniform_int_distribution<int> value(0, 5), place(0, 36);
  LargestEntry largest;
  largest.resize(37);
  std::vector<double> list(37, -1);
  for (int change = 0; change < 1000; ++change) {
    const int k = place(random);
    list[static_cast<std::size_t>(k)] = value(random);
    largest.set(k, list[static_cast<std::size_t>(k)]);
    const auto first = std::ranges::max_element(list);
    REQUIRE(largest.value() == *first);
    REQUIRE(largest.place() == first - list.begin());
    REQUIRE(largest[k] == list[static_cast<std::size_t>(k)]);
  }
}

}  // namespace
}  // namespace perp::linear

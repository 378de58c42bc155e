#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include <perp/core/linear/least_squares.hpp>
#include <perp/core/linear/lu.hpp>
#include <perp/core/linear/spectra.hpp>

using namespace perp;

namespace {

Matrix random_matrix(int rows, int columns, std::mt19937& random) {
  std::normal_distribution<double> entry;
  Matrix A(rows, columns);
  for (double& value : A.reshaped()) value = entry(random);
  return A;
}

/// A matrix of a rank, the product of two random ones.
Matrix of_rank(int rows, int columns, int rank, std::mt19937& random) {
  return random_matrix(rows, rank, random) * random_matrix(rank, columns, random);
}

constexpr double near = 1e-11;

}  // namespace

TEST_SUITE_BEGIN("core/linear");

TEST_CASE("every factorization solves its system, for all sizes from 0 to 30") {
  std::mt19937 random(1);
  for (int n = 0; n <= 30; ++n) {
    const Matrix A = random_matrix(n, n, random) + 4 * Matrix::Identity(n, n);
    const Matrix B = random_matrix(n, 3, random);
    const linear::Lu lu(A);
    const linear::FullLu full(A);
    CHECK((A * lu.solve(B) - B).norm() <= near);
    CHECK((A * full.solve(B) - B).norm() <= near);
    CHECK((A * linear::least_squares(A, B, 1e-13) - B).norm() <= near);
    const Matrix S = A.transpose() * A;
    CHECK((S * linear::solve_definite(S, B) - B).norm() <= near * (1 + S.norm()));
    CHECK(full.rank() == n);
    CHECK(full.is_invertible());
    CHECK((A * full.inverse() - Matrix::Identity(n, n)).norm() <= near);
    CHECK(full.kernel().cols() == 0);
    if (n == 0) continue;
    Matrix upper;
    lu.forward(B, upper);
    lu.factors().triangularView<Eigen::Upper>().solveInPlace(upper);
    CHECK((upper - lu.solve(B)).norm() <= near);
    linear::ComplexLu complex;
    const linear::ComplexMatrix C = A.cast<std::complex<double>>() * std::complex<double>(1, 2);
    complex.compute(C);
    linear::ComplexVector z;
    complex.solve(B.col(0).cast<std::complex<double>>(), z);
    CHECK((C * z - B.col(0)).norm() <= near);
  }
}

TEST_CASE("a copy of a factorization outlives and does not follow its original") {
  const Matrix A{{2, 1}, {1, 3}};
  linear::Lu first(A);
  const linear::Lu copy = first;
  first.compute(Matrix::Identity(2, 2));
  CHECK((A * copy.solve(Vector{{1, 2}}) - Vector{{1, 2}}).norm() <= near);
}

TEST_CASE("ranks, kernels and solutions of least norm of singular matrices") {
  std::mt19937 random(2);
  for (int rank = 0; rank <= 5; ++rank) {
    const Matrix A = of_rank(7, 6, rank, random);
    CHECK(linear::rank_qr(A, 1e-12) == rank);
    CHECK(linear::rank_qr(RealMatrix(A.cast<long double>()), 1e-12L) == rank);
    CHECK(linear::svd(A).rank(1e-12) == rank);
    const Matrix square = of_rank(6, 6, rank, random);
    const linear::FullLu lu(square);
    CHECK(lu.rank() == rank);
    CHECK(lu.kernel().cols() == 6 - rank);
    CHECK((square * lu.kernel()).norm() <= near);
    // x = A⁺ b: no part in the kernel, the residual orthogonal to the range.
    const Vector b = random_matrix(7, 1, random);
    const Vector x = linear::least_norm_solution(A, b, 1e-12);
    CHECK((A.transpose() * (A * x - b)).norm() <= near);
    const linear::Svd svd = linear::svd(A);
    CHECK((svd.V.rightCols(6 - rank).transpose() * x).norm() <= near);
  }
}

TEST_CASE("U and V of a singular value decomposition are orthogonal and give the matrix") {
  std::mt19937 random(3);
  for (const auto& [rows, columns] : {std::pair{1, 1}, {3, 5}, {6, 2}, {4, 4}, {0, 3}, {3, 0}}) {
    const Matrix A = random_matrix(rows, columns, random);
    const linear::Svd svd = linear::svd(A);
    Matrix S = Matrix::Zero(rows, columns);
    S.diagonal() = svd.values;
    CHECK((svd.U * S * svd.V.transpose() - A).norm() <= near);
    CHECK((svd.U.transpose() * svd.U - Matrix::Identity(rows, rows)).norm() <= near);
    CHECK((svd.V.transpose() * svd.V - Matrix::Identity(columns, columns)).norm() <= near);
    CHECK((linear::singular_values(A) - svd.values).norm() <= near);
    CHECK(std::is_sorted(svd.values.begin(), svd.values.end(), std::greater<>()));
  }
}

TEST_CASE("eigenvalues of matrices that are known") {
  const auto rotation = linear::eigenvalues(Matrix{{0, -2}, {2, 0}});
  REQUIRE(rotation.size() == 2);
  CHECK(std::abs(rotation[0] - std::complex<double>(0, 2)) <= near);
  CHECK(std::abs(rotation[1] - std::complex<double>(0, -2)) <= near);
  CHECK((linear::symmetric_eigenvalues(Matrix{{2, 1}, {1, 2}}) - Vector{{1, 3}}).norm() <= near);
  CHECK(linear::has_cholesky_factor(Matrix{{2, 1}, {1, 2}}));
  CHECK_FALSE(linear::has_cholesky_factor(Matrix{{1, 2}, {2, 1}}));
  CHECK(linear::solve_definite(Matrix{{1, 2}, {2, 1}}, Vector{{1, 1}}).hasNaN());
}

TEST_CASE("determinants have their signs") {
  CHECK(linear::FullLu(Matrix{{0, 1}, {1, 0}}).determinant_sign() == -1);
  CHECK(linear::FullLu(Matrix{{3, 1}, {1, 1}}).determinant_sign() == 1);
  CHECK(linear::FullLu(Matrix{{1, 1}, {1, 1}}).determinant_sign() == 0);
}

TEST_CASE("what is not finite has values nan, which decide nothing") {
  const Matrix A{{1, perp::nan}, {0, perp::inf}};
  CHECK(linear::singular_values(A).hasNaN());
  CHECK(linear::svd(A).rank(1e-12) == 0);
  CHECK(std::isnan(linear::eigenvalues(A)[0].real()));
  CHECK(linear::symmetric_eigenvalues(A).hasNaN());
  CHECK_FALSE(linear::has_cholesky_factor(A));
  CHECK(linear::least_norm_solution(A, Vector{{1, 1}}, 1e-12).hasNaN());
}


TEST_SUITE_END();

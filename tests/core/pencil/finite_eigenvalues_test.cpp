#include <doctest/doctest.h>
#include <cmath>
#include <Eigen/LU>
#include <random>

#include <perp/core/base/error.hpp>
#include <perp/core/pencil/finite_eigenvalues.hpp>

using namespace perp;

namespace {

using Values = std::vector<std::complex<double>>;

void check(const std::optional<Values>& found, const Values& wanted, double tol = 1e-10) {
  REQUIRE(found);
  REQUIRE(found->size() == wanted.size());
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    CAPTURE(k);
    CHECK(std::abs((*found)[k] - wanted[k]) <= tol * std::max(1.0, std::abs(wanted[k])));
  }
}

Matrix random_matrix(int n, std::mt19937& random) {
  std::normal_distribution<double> number;
  return Matrix::NullaryExpr(n, n, [&] { return number(random); });
}

}  // namespace

TEST_SUITE("core/finite_eigenvalues") {
  TEST_CASE("a regular E gives the eigenvalues of its flow, largest real part first") {
    check(finite_eigenvalues(Matrix::Identity(2, 2), Matrix{{0, 1}, {-4, 0}}), {{0, 2}, {0, -2}});
    check(finite_eigenvalues(Matrix{{2, 0}, {0, 4}}, Matrix{{-6, 0}, {0, 4}}), {1, -3});
  }

  TEST_CASE("units of rows, columns and time that are powers of two change no bit of the eigenvalues") {
    std::mt19937 random(5);
    const auto power = [&] { return std::ldexp(1.0, static_cast<int>(random() % 61) - 30); };
    for (int k = 0; k < 200; ++k) {
      CAPTURE(k);
      const int n = 2 + k % 4;
      Matrix E = random_matrix(n, random), A = random_matrix(n, random);
      if (k % 2 == 0) E.row(n - 1).setZero();  // an algebraic equation
      if (k % 3 == 0) A(0, n - 1) = 0, E(0, n - 1) = 0;
      const Vector row = Vector::NullaryExpr(n, power), column = Vector::NullaryExpr(n, power);
      const double time = power();
      const auto plain = finite_eigenvalues(E, A);
      const auto scaled = finite_eigenvalues(time * (row.asDiagonal() * E * column.asDiagonal()), row.asDiagonal() * A * column.asDiagonal());
      REQUIRE(plain);
      REQUIRE(scaled);
      REQUIRE(scaled->size() == plain->size());
      for (std::size_t j = 0; j < plain->size(); ++j) CHECK((*scaled)[j] == (*plain)[j] / time);
    }
  }

  TEST_CASE("errors of eigenvalues are large at multiple ones, whose signs rounding makes") {
    const Matrix chain{{-180, 121, -8}, {-247, 166, -11}, {322, -217, 14}};  // its third power is 0
    const auto spectrum = finite_spectrum(Matrix::Identity(3, 3), chain);
    REQUIRE(spectrum);
    REQUIRE(spectrum->values.size() == 3);
    for (std::size_t k = 0; k < 3; ++k) CHECK(spectrum->errors[k] >= std::abs(spectrum->values[k]));
    const auto simple = finite_spectrum(Matrix::Identity(2, 2), Matrix{{-1, 1}, {0, 1e-6}});
    REQUIRE(simple);
    for (std::size_t k = 0; k < 2; ++k) CHECK(simple->errors[k] < 1e-9);
  }

  TEST_CASE("a surface that holds the only state leaves no eigenvalue, whatever is rounded") {
    std::mt19937 random(13);
    std::uniform_real_distribution<double> number(0.1, 2);
    for (int k = 0; k < 2000; ++k) {
      CAPTURE(k);
      // x' = a x + b λ - c m, d x = 0, m = f x
      const Matrix A{{number(random), number(random), -number(random)},
                     {number(random), 0, 0},
                     {number(random), 0, -1}};
      Matrix E = Matrix::Zero(3, 3);
      E(0, 0) = number(random);
      check(finite_eigenvalues(E, A), {});
    }
  }

  TEST_CASE("a fast eigenvalue beside slow ones is no rounding") {
    for (const double fast : {1e3, 1e8, 1e11})
      check(finite_eigenvalues(Matrix{{1 / fast, 0}, {0, 0}}, Matrix{{-1, 1}, {1, -2}}), {-0.5 * fast}, 1e-3);
  }

  TEST_CASE("a zero eigenvalue is a finite one") {
    check(finite_eigenvalues(Matrix::Identity(2, 2), Matrix{{0, 0}, {1, -1}}), {0, -1});
    check(finite_eigenvalues(Matrix::Identity(1, 1), Matrix{{0}}), {0});
  }

  TEST_CASE("algebraic equations of index one, two and three add no finite eigenvalue") {
    // ẋ = z, 0 = z + 3 x
    check(finite_eigenvalues(Matrix{{1, 0}, {0, 0}}, Matrix{{0, 1}, {3, 1}}), {-3});
    // ẋ = −2 x + y, ẏ = z, 0 = y
    check(finite_eigenvalues(Matrix{{1, 0, 0}, {0, 1, 0}, {0, 0, 0}},
                             Matrix{{-2, 1, 0}, {0, 0, 1}, {0, 1, 0}}),
          {-2});
    // ẋ = v, v̇ = λ, 0 = x
    check(finite_eigenvalues(Matrix{{1, 0, 0}, {0, 1, 0}, {0, 0, 0}},
                             Matrix{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}),
          {});
  }

  TEST_CASE("known spectra with chains at infinity are found again after random transformations") {
    std::mt19937 random(5);
    for (int trial = 0; trial < 20; ++trial) {
      CAPTURE(trial);
      // s = 1 ± 2i, −3, −100; infinite chains of length 1 and 2
      Matrix A = Matrix::Identity(7, 7), E = Matrix::Identity(7, 7);
      A.topLeftCorner(2, 2) << 1, 2, -2, 1;
      A(2, 2) = -3;
      A(3, 3) = -100;
      E.bottomRightCorner(3, 3).setZero();
      E(4, 5) = 1;
      const Matrix P = random_matrix(7, random), Q = random_matrix(7, random);
      check(finite_eigenvalues(P * E * Q, P * A * Q), {{1, 2}, {1, -2}, -3, -100}, 1e-7);
    }
  }

  TEST_CASE("units of the equations and of time do not matter") {
    for (const double unit : {1e-8, 1.0, 1e8}) {
      const Matrix E = Matrix{{1, 0, 0}, {0, 1, 0}, {0, 0, 0}},
                   A = Matrix{{-2, 1, 0}, {0, 0, 1}, {0, 1, 0}} * unit;
      const auto found = finite_eigenvalues(E, A);
      REQUIRE(found);
      REQUIRE(found->size() == 1);
      CHECK((*found)[0].real() == doctest::Approx(-2 * unit));
    }
  }

  TEST_CASE("a singular pencil has no spectrum") {
    CHECK_FALSE(finite_eigenvalues(Matrix{{1, 0}, {0, 0}}, Matrix{{1, 0}, {0, 0}}));
    CHECK_THROWS_AS(finite_eigenvalues(Matrix::Zero(2, 2), Matrix::Zero(3, 3)), InvalidInput);
  }
}

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include <perp/core/base/error.hpp>
#include <perp/schemes/located/radau/radau_table.hpp>
#include <perp/tests/schemes/located/radau/radau_coefficients.hpp>

using namespace perp;

namespace {

/// Distance in units of the last place of the reference.
double ulps(double value, double reference) {
  if (value == reference) return 0;
  return std::abs(value - reference) /
         (std::nextafter(std::abs(reference), inf) - std::abs(reference));
}

double largest(const Matrix& X) { return X.cwiseAbs().maxCoeff(); }

}  // namespace

TEST_SUITE("schemes/located/radau_table") {
  TEST_CASE("nodes and coefficients are those of 60 digits, to the last bit") {
    for (const auto& reference : radau_coefficients::references) {
      const RadauTable table = radau_table(reference.stages);
      CAPTURE(reference.stages);
      std::size_t k = 0;
      for (int i = 0; i < table.stages; ++i) {
        CHECK(table.c[i] == reference.c[static_cast<std::size_t>(i)]);
        for (int j = 0; j < table.stages; ++j, ++k) {
          CHECK(ulps(table.A(i, j), reference.A[k]) <= 1);
          CHECK(ulps(table.A_inverse(i, j), reference.A_inverse[k]) <= 1);
        }
      }
    }
  }

  TEST_CASE("three stages are the known table of order 5") {
    const RadauTable table = radau_table(3);
    const double q = std::sqrt(6.0);
    const Vector c{{(4 - q) / 10, (4 + q) / 10, 1}};
    const Matrix A{{(88 - 7 * q) / 360, (296 - 169 * q) / 1800, (-2 + 3 * q) / 225},
                   {(296 + 169 * q) / 1800, (88 + 7 * q) / 360, (-2 - 3 * q) / 225},
                   {(16 - q) / 36, (16 + q) / 36, 1.0 / 9}};
    CHECK(largest(table.c - c) < 1e-15);
    CHECK(largest(table.A - A) < 1e-15);
    CHECK(std::abs(table.mu - (3 + std::cbrt(3.0) * (std::cbrt(3.0) - 1))) < 1e-14);
  }

  TEST_CASE(
      "the weights integrate to degree 2s - 2 and not further, the rows of A to degree s - 1") {
    for (const int s : {1, 3, 5, 7, 9}) {
      const RadauTable table = radau_table(s);
      CAPTURE(s);
      for (int k = 1; k <= 2 * s; ++k) {
        const Vector powers = table.c.array().pow(k - 1);
        const double quadrature = table.A.row(s - 1).dot(powers) - 1.0 / k;
        if (k < 2 * s)
          CHECK(std::abs(quadrature) < 1e-15);
        else
          CHECK(std::abs(quadrature) > 1e-11);
        if (k > s) continue;
        const Vector integrals = table.c.array().pow(k) / k;
        CHECK(largest(table.A * powers - integrals) < 1e-15);
      }
      CHECK(largest(table.A * table.A_inverse - Matrix::Identity(s, s)) < 1e-13);
    }
  }

  TEST_CASE("A⁻¹ is T Λ T⁻¹ with one real and otherwise complex eigenvalues") {
    for (const int s : {1, 3, 5, 7, 9}) {
      const RadauTable table = radau_table(s);
      CAPTURE(s);
      REQUIRE(table.pairs.size() == static_cast<std::size_t>(s / 2));
      Matrix Lambda = Matrix::Zero(s, s);
      Lambda(0, 0) = table.mu;
      for (int k = 0; k < s / 2; ++k) {
        const auto value = table.pairs[static_cast<std::size_t>(k)];
        const double alpha = value.real(), beta = -value.imag();
        CHECK(alpha > 0);
        CHECK(beta > 0);
        Lambda.block(2 * k + 1, 2 * k + 1, 2, 2) << alpha, beta, -beta, alpha;
      }
      CHECK(largest(table.T * Lambda * table.T_inverse - table.A_inverse) < 1e-11);
      CHECK(largest(table.T * table.T_inverse - Matrix::Identity(s, s)) < 1e-12);
    }
  }

  TEST_CASE("the basis interpolates and differentiates polynomials of degree s exactly") {
    for (const int s : {3, 5, 7}) {
      const RadauTable table = radau_table(s);
      Vector l(s + 1), dl(s + 1);
      const auto p = [s](double x) { return std::pow(x - 0.3, s) + x; };
      const auto dp = [s](double x) { return s * std::pow(x - 0.3, s - 1) + 1; };
      for (const double x : {-0.2, 0.0, 0.41, table.c[1], 1.0, 1.3}) {
        table.basis(x, l);
        table.basis_derivative(x, dl);
        double value = 0, slope = 0;
        for (int j = 0; j <= s; ++j) {
          value += l[j] * p(table.nodes[j]);
          slope += dl[j] * p(table.nodes[j]);
        }
        CHECK(std::abs(value - p(x)) < 1e-13);
        CHECK(std::abs(slope - dp(x)) < 2e-11);
        CHECK(std::abs(l.sum() - 1) < 1e-13);
      }
      table.basis(table.c[1], l);
      CHECK(largest(l - Vector::Unit(s + 1, 2)) < 1e-14);
    }
  }

  TEST_CASE("an even number of stages is refused") {
    CHECK_THROWS_AS(radau_table(4), InvalidInput);
    CHECK_THROWS_AS(radau_table(0), InvalidInput);
    CHECK_THROWS_AS(radau_table(-3), InvalidInput);
  }
}

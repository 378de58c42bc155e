#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

#include <perp/core/linear/dense_lu.hpp>

using namespace perp;

TEST_SUITE("lcp/dense_lu") {
  TEST_CASE("a short step that a force moves a position by h^2 in is regular at any h") {
    DenseLu lu(3);
    for (int k = 0; k <= 300; k += 20) {
      const double h = std::ldexp(1.0, -k);
      // d4 / h - d5 = 0, d5 / h - s = 0, d4 = 1: the force s is 1 / h².
      const std::vector<double> A{1 / h, -1, 0, 0, 1 / h, -1, 1, 0, 0};
      REQUIRE(lu.factorise(A.data(), 3));
      std::vector<double> x{0, 0, 1};
      lu.solve(x.data());
      CHECK(x == std::vector<double>{1, 1 / h, 1 / h / h});
    }
  }

  TEST_CASE("dependent rows are singular, whatever the units of rows and columns") {
    std::mt19937 random(5);
    std::normal_distribution<double> normal;
    std::uniform_int_distribution<int> exponent(-60, 60);
    constexpr int n = 6;
    DenseLu lu(n);
    for (int run = 0; run < 200; ++run) {
      std::vector<double> A(n * n);
      for (double& entry : A) entry = std::round(100 * normal(random));  // whose sums are exact
      std::vector<double> dependent = A;
      for (int j = 0; j < n; ++j) dependent[n + j] = 3 * A[j] - A[2 * n + j] + 7 * A[4 * n + j];
      for (std::vector<double>* matrix : {&A, &dependent}) {
        std::vector<int> rows(n), columns(n);
        for (int i = 0; i < n; ++i) rows[i] = exponent(random), columns[i] = exponent(random);
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < n; ++j)
            (*matrix)[i * n + j] = std::ldexp((*matrix)[i * n + j], rows[i] + columns[j]);
      }
      CHECK(lu.factorise(A.data(), n));
      CHECK_FALSE(lu.factorise(dependent.data(), n));
    }
  }

  TEST_CASE("the factors bound what the inverse makes of errors of either sign") {
    std::mt19937 random(8);
    std::normal_distribution<double> normal;
    constexpr int n = 5;
    DenseLu lu(n);
    for (int run = 0; run < 100; ++run) {
      std::vector<double> A(n * n), bound(n);
      for (double& entry : A) entry = normal(random);
      for (double& entry : bound) entry = std::abs(normal(random));
      REQUIRE(lu.factorise(A.data(), n));
      std::vector<std::vector<double>> errors(8, bound);
      for (std::vector<double>& x : errors) {
        for (double& entry : x) entry = random() % 2 == 0 ? entry : -entry;
        lu.solve(x.data());
      }
      lu.bound(bound.data());
      for (const std::vector<double>& x : errors)
        for (std::size_t j = 0; j < n; ++j) CHECK(std::abs(x[j]) <= (1 + 1e-12) * bound[j]);
    }
  }

  TEST_CASE("rows and columns in units of powers of two have the same solution to the bit") {
    std::mt19937 random(6);
    std::normal_distribution<double> normal;
    std::uniform_int_distribution<int> exponent(-60, 60), entry(0, 2);
    constexpr int n = 5;
    DenseLu plain(n), scaled(n);
    int regular_ones = 0;
    for (int run = 0; run < 200; ++run) {
      std::vector<double> A(n * n), r(n);
      for (double& value : A) value = entry(random) == 0 ? 0 : std::exp(5 * normal(random));
      for (double& value : r) value = normal(random);
      std::vector<int> rows(n), columns(n), units(n), other_units(n);
      for (int i = 0; i < n; ++i) {
        rows[i] = exponent(random), columns[i] = exponent(random), units[i] = exponent(random) / 10;
        other_units[i] = units[i] - columns[i];  // the unknown is 2^-columns times what it was
      }
      std::vector<double> B = A, s = r;
      for (int i = 0; i < n; ++i) s[i] = std::ldexp(r[i], rows[i]);
      for (int i = 0; i < n * n; ++i) B[i] = std::ldexp(A[i], rows[i / n] + columns[i % n]);
      const bool regular = plain.factorise(A.data(), n, units.data());
      REQUIRE(scaled.factorise(B.data(), n, other_units.data()) == regular);
      std::vector<double> x = r, y = s;
      if (regular) {
        ++regular_ones;
        plain.solve(x.data());
        scaled.solve(y.data());
      } else {
        const DenseLu::Remainder left = plain.solve_least_squares(A.data(), r.data(), x.data());
        const DenseLu::Remainder same = scaled.solve_least_squares(B.data(), s.data(), y.data());
        CHECK(same.share == left.share);
        CHECK(same.contradicts == left.contradicts);
      }
      for (int j = 0; j < n; ++j) CHECK(std::ldexp(y[j], columns[j]) == x[j]);
    }
    CHECK(regular_ones > 20);
    CHECK(regular_ones < 200);
  }
}

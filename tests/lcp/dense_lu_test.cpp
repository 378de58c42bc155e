#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

#include <perp/lcp/dense_lu.hpp>

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
}

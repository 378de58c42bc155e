#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include <perp/core/linear/sparse/block_lu.hpp>

using namespace perp;

namespace {

/// Largest |A x − r| of a row beside its own terms.
double row_residual(const std::vector<double>& A, const std::vector<double>& x, const std::vector<double>& r) {
  double largest = 0;
  const std::size_t n = r.size();
  for (std::size_t i = 0; i < n; ++i) {
    double rest = r[i], terms = std::abs(r[i]);
    for (std::size_t j = 0; j < n; ++j) {
      rest -= A[i * n + j] * x[j];
      terms += std::abs(A[i * n + j] * x[j]);
    }
    if (terms > 0) largest = std::max(largest, std::abs(rest) / terms);
  }
  return largest;
}

}  // namespace

TEST_SUITE("core/block_lu") {
  TEST_CASE("a chain whose last states are smaller by powers of ten is solved row by row, in any order of its rows") {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> value(0.5, 2);
    for (int run = 0; run < 50; ++run) {
      const int n = 5 + run;
      std::vector<int> rows(n), columns(n);
      std::iota(rows.begin(), rows.end(), 0);
      std::iota(columns.begin(), columns.end(), 0);
      std::shuffle(rows.begin(), rows.end(), random);
      std::shuffle(columns.begin(), columns.end(), random);
      std::vector<double> A(static_cast<std::size_t>(n * n)), r(static_cast<std::size_t>(n));
      for (int i = 0; i < n; ++i) {
        A[static_cast<std::size_t>(rows[i] * n + columns[i])] = 1e4 * value(random);
        if (i > 0) A[static_cast<std::size_t>(rows[i] * n + columns[i - 1])] = -5 * value(random);
        r[static_cast<std::size_t>(rows[i])] = std::pow(1e-3, i) * value(random);
      }
      BlockLu lu;
      REQUIRE(lu.factorise(A.data(), n));
      CHECK(lu.blocks() == n);
      std::vector<double> x = r;
      lu.solve(x.data());
      CHECK(row_residual(A, x, r) <= 4 * 0x1p-53);
    }
  }

  TEST_CASE("a matrix that does not fall apart has the solution of dense elimination to the bit") {
    std::mt19937 random(4);
    std::normal_distribution<double> normal;
    constexpr int n = 6;
    std::vector<double> A(n * n), r(n);
    for (double& entry : A) entry = normal(random);
    for (double& entry : r) entry = normal(random);
    BlockLu blocks;
    DenseLu dense(n);
    REQUIRE(blocks.factorise(A.data(), n));
    REQUIRE(dense.factorise(A.data(), n));
    CHECK(blocks.blocks() == 1);
    std::vector<double> x = r, y = r;
    blocks.solve(x.data());
    dense.solve(y.data());
    CHECK(x == y);
  }

  TEST_CASE("what is singular by its zeros or in a block is refused") {
    BlockLu lu;
    const std::vector<double> by_zeros{1, 2, 0, 3, 4, 0, 5, 6, 0}, in_block{1, 2, 0, 2, 4, 0, 7, 8, 1};
    CHECK_FALSE(lu.factorise(by_zeros.data(), 3));
    CHECK_FALSE(lu.factorise(in_block.data(), 3));
  }
}

#include <doctest/doctest.h>
#include <cmath>
#include <random>
#include <vector>

#include <perp/core/linear/dense_lu.hpp>
#include <perp/core/linear/sparse/scaled_lu.hpp>

namespace {

using perp::DenseLu;
using perp::linear::RowPattern;
using perp::linear::ScaledLu;

struct Problem {
  int n = 0;
  RowPattern pattern{};
  std::vector<double> entries{}, full{};
  std::vector<int> units{};
};

/// A diagonal somewhere else and some more entries in units that are far off.
Problem random_problem(std::mt19937& random, int n) {
  std::uniform_real_distribution<double> entry(-1, 1);
  std::uniform_int_distribution<int> exponent(-40, 40), column(0, n - 1);
  Problem made{.n = n};
  std::vector<int> rows(static_cast<std::size_t>(n)), columns(static_cast<std::size_t>(n));
  for (int& unit : rows) unit = exponent(random);
  for (int& unit : columns) unit = exponent(random);
  made.full.assign(static_cast<std::size_t>(n * n), 0.0);
  const int shift = column(random);
  for (int i = 0; i < n; ++i) {
    made.full[static_cast<std::size_t>(i * n + (i + shift) % n)] = 2 + entry(random);
    for (int k = 0; k < 2; ++k) made.full[static_cast<std::size_t>(i * n + column(random))] += entry(random);
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      double& value = made.full[static_cast<std::size_t>(i * n + j)];
      if (value == 0) continue;
      value = std::ldexp(value, rows[static_cast<std::size_t>(i)] - columns[static_cast<std::size_t>(j)]);
      made.pattern.column.push_back(j);
      made.entries.push_back(value);
    }
    made.pattern.start.push_back(static_cast<int>(made.entries.size()));
  }
  made.units = columns;
  return made;
}

TEST_CASE("a matrix by its entries has the solutions, transposed solutions, determinant and scales of the full one") {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> number(-1, 1);
  for (int run = 0; run < 200; ++run) {
    const Problem problem = random_problem(random, 3 + run % 30);
    const auto n = static_cast<std::size_t>(problem.n);
    ScaledLu sparse(problem.pattern);
    DenseLu full(problem.n);
    const bool regular = full.factorise(problem.full.data(), problem.n, problem.units.data());
    if (!regular) continue;
    REQUIRE(sparse.factorise(problem.entries.data(), problem.units.data()));
    CHECK(sparse.determinant_sign() == full.determinant_sign());
    std::vector<double> right(n);
    for (double& value : right) value = number(random);
    for (const bool transposed : {false, true}) {
      std::vector<double> a = right, b = right;
      transposed ? sparse.solve_transposed(a.data()) : sparse.solve(a.data());
      transposed ? full.solve_transposed(b.data()) : full.solve(b.data());
      double difference = 0, size = 0;
      for (std::size_t j = 0; j < n; ++j) {
        CHECK(sparse.column_scale(static_cast<int>(j)) == full.column_scale(static_cast<int>(j)));
        const double unit = transposed ? 1 : full.column_scale(static_cast<int>(j));
        difference = std::max(difference, std::abs(a[j] - b[j]) / unit);
        size = std::max(size, std::abs(b[j]) / unit);
      }
      CHECK(difference <= 1e-9 * size);
    }
  }
}

TEST_CASE("the bound by the factors is at least |A^-1| b, and equal to it where A is an M-matrix") {
  std::mt19937 random(12);
  std::uniform_real_distribution<double> number(0, 1);
  for (int run = 0; run < 100; ++run) {
    Problem problem = random_problem(random, 3 + run % 20);
    const auto n = static_cast<std::size_t>(problem.n);
    ScaledLu sparse(problem.pattern);
    if (!sparse.factorise(problem.entries.data(), problem.units.data())) continue;
    std::vector<double> right(n);
    for (double& value : right) value = number(random);
    std::vector<double> bound = right;
    sparse.bound(bound.data());
    for (std::size_t j = 0; j < n; ++j) {
      std::vector<double> row(n, 0.0);
      row[j] = 1;
      sparse.solve_transposed(row.data());
      double exact = 0;
      for (std::size_t i = 0; i < n; ++i) exact += std::abs(row[i]) * right[i];
      CHECK(bound[j] >= exact * (1 - 1e-12));
    }
  }
  const int n = 50;
  RowPattern pattern;
  std::vector<double> entries;
  for (int i = 0; i < n; ++i) {
    for (int j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j) {
      pattern.column.push_back(j);
      entries.push_back(i == j ? 2.5 : -1);
    }
    pattern.start.push_back(static_cast<int>(entries.size()));
  }
  ScaledLu chain(pattern);
  const std::vector<int> units(static_cast<std::size_t>(n), 0);
  REQUIRE(chain.factorise(entries.data(), units.data()));
  std::vector<double> bound(static_cast<std::size_t>(n), 1.0), solution = bound;
  chain.bound(bound.data());
  chain.solve(solution.data());
  for (std::size_t j = 0; j < solution.size(); ++j) CHECK(bound[j] == doctest::Approx(solution[j]).epsilon(1e-12));
}

TEST_CASE("a short step that a force moves a position by h^2 in is regular at any h, dependent rows are not") {
  // d4 / h - d5 = 0, d5 / h - s = 0, d4 = 1
  const RowPattern pattern{{0, 2, 4, 5}, {0, 1, 1, 2, 0}};
  const std::vector<int> units{0, 0, 0};
  ScaledLu lu(pattern);
  for (int k = 0; k <= 300; k += 20) {
    const double h = std::ldexp(1.0, -k);
    const std::vector<double> entries{1 / h, -1, 1 / h, -1, 1};
    REQUIRE(lu.factorise(entries.data(), units.data()));
    std::vector<double> x{0, 0, 1};
    lu.solve(x.data());
    CHECK(x == std::vector<double>{1, 1 / h, 1 / h / h});
  }
  const RowPattern square{{0, 2, 4}, {0, 1, 0, 1}};
  ScaledLu dependent(square);
  const std::vector<double> entries{1, 3, 0.1, 0.1 * 3};
  CHECK_FALSE(dependent.factorise(entries.data(), units.data()));
}

}  // namespace

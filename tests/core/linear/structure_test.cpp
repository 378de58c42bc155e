#include <doctest/doctest.h>
#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>

#include <perp/core/base/index.hpp>
#include <perp/core/linear/structure.hpp>

namespace perp::linear {
namespace {

Pattern random_pattern(std::mt19937& random, int rows, int columns, double density) {
  Pattern pattern(at(rows));
  std::bernoulli_distribution holds(density);
  for (std::vector<int>& row : pattern) {
    for (int j = 0; j < columns; ++j)
      if (holds(random)) row.push_back(j);
    std::shuffle(row.begin(), row.end(), random);
  }
  return pattern;
}

/// Most rows that find different columns, by trying every choice.
int most_pairs(const Pattern& rows, std::size_t row, unsigned taken) {
  if (row == rows.size()) return 0;
  int most = most_pairs(rows, row + 1, taken);
  for (const int column : rows[row])
    if ((taken >> column & 1u) == 0)
      most = std::max(most, 1 + most_pairs(rows, row + 1, taken | 1u << column));
  return most;
}

/// reached[i][j]: does a path lead from i to j?
std::vector<std::vector<char>> closure(const Pattern& successors) {
  const std::size_t n = successors.size();
  std::vector<std::vector<char>> reached(n, std::vector<char>(n, 0));
  for (std::size_t i = 0; i < n; ++i) {
    reached[i][i] = 1;
    for (const int j : successors[i]) reached[i][at(j)] = 1;
  }
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j)
        if (reached[i][k] != 0 && reached[k][j] != 0) reached[i][j] = 1;
  return reached;
}

}  // namespace

TEST_SUITE("core/linear/structure") {
  TEST_CASE("matchings pair rows with different columns that they hold, as many as any choice does") {
    std::mt19937 random(1);
    for (int k = 0; k < 400; ++k) {
      const int rows = k % 7, columns = k / 7 % 7;
      const Pattern pattern = random_pattern(random, rows, columns, 0.1 + 0.1 * (k % 6));
      CAPTURE(k);
      const Matching matching = maximum_matching(pattern, columns);
      int pairs = 0;
      for (int i = 0; i < rows; ++i) {
        const int column = matching.column_of_row[at(i)];
        if (column < 0) continue;
        ++pairs;
        CHECK(matching.row_of_column[at(column)] == i);
        CHECK(std::count(pattern[at(i)].begin(), pattern[at(i)].end(), column) == 1);
      }
      CHECK(pairs == most_pairs(pattern, 0, 0));
      CHECK(matching.is_perfect() == (pairs == rows && pairs == columns));
      CHECK(std::count(matching.row_of_column.begin(), matching.row_of_column.end(), -1) ==
            columns - pairs);
    }
  }

  TEST_CASE("nodes share a component where paths lead both ways, and edges lead to no larger number") {
    std::mt19937 random(2);
    for (int k = 0; k < 300; ++k) {
      const int n = k % 10;
      const Pattern successors = random_pattern(random, n, n, 0.05 + 0.03 * (k % 7));
      const auto reached = closure(successors);
      const Components components = strong_components(successors);
      CAPTURE(k);
      for (int i = 0; i < n; ++i) {
        CHECK(components.of_node[at(i)] < components.count);
        for (const int j : successors[at(i)])
          CHECK(components.of_node[at(j)] <= components.of_node[at(i)]);
        for (int j = 0; j < n; ++j) {
          const bool both = reached[at(i)][at(j)] != 0 && reached[at(j)][at(i)] != 0;
          CHECK((components.of_node[at(i)] == components.of_node[at(j)]) == both);
        }
      }
    }
  }

  TEST_CASE("a chain of 200,000 rows is matched and taken apart, which no recursion would survive") {
    constexpr int n = 200'000;
    Pattern chain(n);  // row i holds i and i + 1, the last one the first column only
    for (int i = 0; i < n - 1; ++i) chain[at(i)] = {i, i + 1};
    chain[n - 1] = {0};
    const Matching matching = maximum_matching(chain, n);
    CHECK(matching.is_perfect());
    CHECK(matching.column_of_row[n - 1] == 0);
    CHECK(strong_components(chain).count == 1);
    chain[n - 1].clear();
    CHECK(strong_components(chain).count == n);
  }

  TEST_CASE("a ladder of 20,000 members is matched along shortest paths where single ones are long") {
    // x_i beside its neighbours and λ_i, then the laws; two equations hold one and the same variable only.
    constexpr int n = 20'000;
    Pattern ladder(2 * n);
    for (int i = 0; i < n; ++i) {
      ladder[at(i)] = {std::max(i - 1, 0), i, std::min(i + 1, n - 1), n + i};
      ladder[at(n + i)] = {n + i, i};
    }
    ladder[500] = ladder[14'000] = {3};
    const Matching matching = maximum_matching(ladder, 2 * n);
    CHECK(std::ranges::count(matching.column_of_row, -1) == 1);
    CHECK(std::ranges::count(matching.row_of_column, -1) == 1);
    CHECK((matching.column_of_row[500] < 0) != (matching.column_of_row[14'000] < 0));
    for (int row = 0; row < 2 * n; ++row)
      if (const int column = matching.column_of_row[at(row)]; column >= 0) CHECK(matching.row_of_column[at(column)] == row);
  }

  TEST_CASE("entries outside of the pattern are refused") {
    CHECK_THROWS_AS(maximum_matching({{0, 2}}, 2), std::out_of_range);
    CHECK_THROWS_AS(strong_components({{-1}}), std::out_of_range);
  }
}

}  // namespace perp::linear

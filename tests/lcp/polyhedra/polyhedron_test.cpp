#include <doctest/doctest.h>
#include <algorithm>
#include <random>
#include <set>

#include <perp/lcp/polyhedra/affine_space.hpp>
#include <perp/lcp/polyhedra/polyhedron.hpp>

using namespace perp;

namespace {

/// Polyhedron {t : rows · (t, 1) ≥ 0}.
template <class Scalar>
Generators<Scalar> generators(const std::vector<std::vector<int>>& rows, int dimension) {
  DoubleDescription<Scalar> cone(dimension + 1, 10'000);
  std::vector<Scalar> tau(static_cast<std::size_t>(dimension + 1), Scalar(0));
  tau.back() = 1;
  const bool first = cone.insert(tau);
  REQUIRE(first);
  for (const std::vector<int>& row : rows) {
    std::vector<Scalar> h(row.begin(), row.end());
    const bool within_limit = cone.insert(h);
    REQUIRE(within_limit);
  }
  return dehomogenise(cone);
}

std::vector<std::vector<int>> cube(int dimension) {
  std::vector<std::vector<int>> rows;
  for (int i = 0; i < dimension; ++i)
    for (const int sign : {1, -1}) {
      std::vector<int> row(static_cast<std::size_t>(dimension + 1), 0);
      row[static_cast<std::size_t>(i)] = sign;
      row.back() = 1;
      rows.push_back(row);
    }
  return rows;
}

/// Σ ±t_i ≤ 1 for all signs.
std::vector<std::vector<int>> cross_polytope(int dimension) {
  std::vector<std::vector<int>> rows;
  for (int signs = 0; signs < 1 << dimension; ++signs) {
    std::vector<int> row;
    for (int i = 0; i < dimension; ++i) row.push_back((signs >> i & 1) != 0 ? 1 : -1);
    row.push_back(1);
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

TEST_SUITE("lcp/polyhedron") {
  TEST_CASE_TEMPLATE("a cube has 2^d vertices, its dual 2d", Scalar, long double, Rational) {
    for (int d = 1; d <= 5; ++d) {
      CAPTURE(d);
      CHECK(generators<Scalar>(cube(d), d).vertices.size() == std::size_t{1} << d);
      const auto dual = generators<Scalar>(cross_polytope(d), d);
      CHECK(dual.vertices.size() == static_cast<std::size_t>(2 * d));
      CHECK(dual.rays.empty());
      CHECK(dual.lines.empty());
      for (const auto& vertex : dual.vertices)
        CHECK(std::count(vertex.begin(), vertex.end(), Scalar(0)) == d - 1);
    }
  }

  TEST_CASE_TEMPLATE("rays and lines of unbounded polyhedra", Scalar, long double, Rational) {
    const auto quadrant = generators<Scalar>({{1, 0, -2}, {0, 1, -3}}, 2);
    REQUIRE(quadrant.vertices.size() == 1);
    CHECK(quadrant.vertices[0] == std::vector<Scalar>{2, 3});
    CHECK(quadrant.rays.size() == 2);
    const auto strip = generators<Scalar>({{1, 0, 0, 1}, {-1, 0, 0, 1}}, 3);
    CHECK(strip.vertices.size() == 2);
    CHECK(strip.rays.empty());
    CHECK(strip.lines.size() == 2);
    const auto half = generators<Scalar>({{1, 1, 0}}, 2);
    CHECK(half.vertices.size() == 1);
    CHECK(half.rays.size() == 1);
    REQUIRE(half.lines.size() == 1);
    CHECK(half.lines[0][0] == -half.lines[0][1]);
  }

  TEST_CASE_TEMPLATE("contradictory rows leave no vertex, opposite rows a flat polyhedron", Scalar,
                     long double, Rational) {
    CHECK(generators<Scalar>({{1, 0, -1}, {-1, 0, 0}}, 2).vertices.empty());
    auto flat_square = cube(3);
    flat_square.push_back({1, 1, 1, 0});
    flat_square.push_back({-1, -1, -1, 0});
    CHECK(generators<Scalar>(flat_square, 3).vertices.size() == 6);  // a regular hexagon
    CHECK(generators<Scalar>({{1, 1}, {-1, -1}, {1, 1}}, 1).vertices.size() == 1);
  }

  TEST_CASE(
      "random polyhedra in both scalars: same generators, all rows hold, redundancy is harmless") {
    std::mt19937 engine(5);
    std::uniform_int_distribution<int> entry(-3, 3);
    for (int k = 0; k < 200; ++k) {
      const int d = 1 + k % 4;
      std::vector<std::vector<int>> rows;
      for (int r = 0; r < 3 + k % 6; ++r) {
        rows.emplace_back();
        for (int j = 0; j <= d; ++j) rows.back().push_back(entry(engine));
      }
      const auto exact = generators<Rational>(rows, d);
      const auto rounded = generators<long double>(rows, d);
      CHECK(exact.vertices.size() == rounded.vertices.size());
      CHECK(exact.rays.size() == rounded.rays.size());
      CHECK(exact.lines.size() == rounded.lines.size());
      for (const auto& row : rows)
        for (const auto& vertex : exact.vertices) {
          Rational value = row.back();
          for (int j = 0; j < d; ++j)
            value += row[static_cast<std::size_t>(j)] * vertex[static_cast<std::size_t>(j)];
          CHECK(value >= 0);
        }
      std::reverse(rows.begin(), rows.end());
      rows.push_back(rows.front());
      const auto again = generators<Rational>(rows, d);
      if (exact.lines.empty()) {
        const std::set<std::vector<Rational>> first(exact.vertices.begin(), exact.vertices.end());
        const std::set<std::vector<Rational>> second(again.vertices.begin(), again.vertices.end());
        CHECK(first == second);
      }
    }
  }

  TEST_CASE("the limit on generators is reported, not exceeded") {
    DoubleDescription<long double> cone(9, 50);
    std::vector<long double> tau(9, 0);
    tau.back() = 1;
    bool within = cone.insert(tau);
    for (const auto& row : cube(8))
      within = within && cone.insert(std::vector<long double>(row.begin(), row.end()));
    CHECK_FALSE(within);
  }

  TEST_CASE("linear equations: a point, a line, a contradiction") {
    using Rows = std::vector<std::vector<Rational>>;
    const auto point = solve_equations(Rows{{2, 1, -4}, {1, -1, 1}}, 2);
    REQUIRE(point);
    CHECK(point->origin == std::vector<Rational>{1, 2});
    CHECK(point->directions.empty());
    const auto line = solve_equations(Rows{{2, 1, -4}, {4, 2, -8}}, 2);
    REQUIRE(line);
    CHECK(line->directions.size() == 1);
    CHECK_FALSE(solve_equations(Rows{{2, 1, -4}, {4, 2, -7}}, 2));
    const auto rounded = solve_equations<long double>({{0.1L, 0.3L, 0}, {0.2L, 0.6L, 0}}, 2);
    REQUIRE(rounded);
    CHECK(rounded->directions.size() == 1);
  }
}

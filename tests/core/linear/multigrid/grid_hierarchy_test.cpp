#include <doctest/doctest.h>
#include <cmath>
#include <random>
#include <vector>

#include <perp/core/base/index.hpp>
#include <perp/core/linear/multigrid/grid_hierarchy.hpp>

using namespace perp;
using linear::GridField;
using linear::GridHierarchy;
using linear::GridMatrix;
using linear::GridShape;
using linear::SparseMatrix;

namespace {

/// Is there a node at this step from node i?
bool has_neighbour(const GridShape& shape, std::ptrdiff_t i, int code) {
  for (int axis = 0; axis < 3; ++axis) {
    const std::ptrdiff_t place = i / shape.stride(axis) % shape.size[at(axis)] + GridMatrix::step(code, axis);
    if (place < 0 || place >= shape.size[at(axis)]) return false;
  }
  return true;
}

/// Random entries between all neighbours, diagonally dominant; without corners where `has_corners` is false.
GridMatrix random_matrix(std::mt19937& random, const GridShape& shape, bool has_corners) {
  std::uniform_real_distribution<double> entry(-1, 0);
  GridMatrix A(shape);
  for (int code = GridMatrix::centre + 1; code < GridMatrix::neighbours; ++code) {
    const int steps = std::abs(GridMatrix::step(code, 0)) + std::abs(GridMatrix::step(code, 1)) + std::abs(GridMatrix::step(code, 2));
    if (steps > 1 && !has_corners) continue;
    for (std::ptrdiff_t i = 0; i < shape.nodes(); ++i) {
      if (!has_neighbour(shape, i, code)) continue;
      const double value = entry(random);
      A.room_beside(code)[i] = value;
      A.diagonal()[i] -= value;
      A.diagonal()[i + A.distance(code)] -= value;
    }
  }
  for (std::ptrdiff_t i = 0; i < shape.nodes(); ++i) A.diagonal()[i] += 0.1;
  return A;
}

GridField random_field(std::mt19937& random, const GridShape& shape) {
  std::uniform_real_distribution<double> entry(-1, 1);
  GridField field(shape);
  for (std::ptrdiff_t i = 0; i < shape.nodes(); ++i) field[i] = entry(random);
  return field;
}

/// The negative Laplacian in units of its entries, with a term of a step.
GridMatrix laplacian(const GridShape& shape, double own) {
  GridMatrix A(shape);
  for (std::ptrdiff_t i = 0; i < shape.nodes(); ++i) {
    A.diagonal()[i] = own + 2 * shape.dimensions();
    for (const int code : {14, 16, 22})
      if (has_neighbour(shape, i, code)) A.room_beside(code)[i] = -1;
  }
  return A;
}

}  // namespace

TEST_SUITE("core/linear/multigrid/grid_hierarchy") {
  TEST_CASE("the matrix of a coarser grid is P' A P, in any dimension and for sizes even and odd") {
    std::mt19937 random(3);
    for (const GridShape& shape : {GridShape{{9, 1, 1}}, GridShape{{8, 1, 1}}, GridShape{{2, 1, 1}}, GridShape{{7, 6, 1}}, GridShape{{4, 9, 1}},
                                   GridShape{{5, 4, 3}}, GridShape{{6, 3, 8}}, GridShape{{3, 1, 5}}})
      for (const bool has_corners : {false, true}) {
        CAPTURE(shape.size);
        const GridMatrix A = random_matrix(random, shape, has_corners);
        const GridHierarchy grids{GridMatrix(A)};
        REQUIRE(grids.levels() > 1);
        const GridShape& half = grids.shape(1);
        const GridField coarse = random_field(random, half);
        GridField fine(shape), product(shape), expected(half), found(half);
        grids.interpolate(0, coarse, fine);
        A.times(fine, product);
        grids.restrict_to(0, product, expected);
        grids.matrix(1).times(coarse, found);
        for (std::ptrdiff_t i = 0; i < half.nodes(); ++i) CHECK(found[i] == doctest::Approx(expected[i]).epsilon(1e-12));
      }
  }

  TEST_CASE("conjugate gradients with a V-cycle need the same few iterations on grids of any size, around any held nodes") {
    std::mt19937 random(5);
    for (const GridShape& shape : {GridShape{{30, 30, 1}}, GridShape{{150, 150, 1}}, GridShape{{1000, 1, 1}}, GridShape{{16, 16, 16}}, GridShape{{60, 41, 1}}})
      for (const double own : {1e-4, 1.0})
        for (const bool holds : {false, true}) {
          CAPTURE(shape.size);
          CAPTURE(own);
          GridHierarchy grids(laplacian(shape, own));
          std::vector<signed char> held(at(shape.nodes()), 0);
          for (std::size_t i = 0; holds && i < held.size(); ++i) held[i] = (i / 7) % 5 == 0 || i % 97 < 20;
          grids.hold(0, held);
          GridField x = random_field(random, shape), b(shape), found = x;
          grids.matrix(0).times(x, b);
          for (std::size_t i = 0; i < held.size(); ++i)
            if (held[i] == 0) found[static_cast<std::ptrdiff_t>(i)] = 0;
          const GridHierarchy::End end = grids.solve(b, found, 1e-9);
          CHECK(end.is_solved);
          CHECK(end.iterations <= 12);
          for (std::ptrdiff_t i = 0; i < shape.nodes(); ++i) CHECK(std::abs(found[i] - x[i]) <= 1e-6);
        }
  }

  TEST_CASE("a grid is known by the places of the entries") {
    const auto shape_of = [](const GridShape& shape, bool has_corners) {
      std::mt19937 random(1);
      const GridMatrix A = random_matrix(random, shape, has_corners);
      std::vector<SparseMatrix::Placed> entries;
      for (int i = 0; i < shape.nodes(); ++i) {
        entries.push_back({i, i, A.diagonal()[i]});
        for (int code = GridMatrix::centre + 1; code < GridMatrix::neighbours; ++code) {
          if (A.beside(code).empty() || A.beside(code)[i] == 0) continue;
          const int j = i + static_cast<int>(A.distance(code));
          entries.push_back({i, j, A.beside(code)[i]});
          entries.push_back({j, i, A.beside(code)[i]});
        }
      }
      const SparseMatrix matrix(static_cast<int>(shape.nodes()), static_cast<int>(shape.nodes()), entries);
      const auto found = linear::grid_shape(matrix);
      CHECK(found.has_value());
      CHECK(GridMatrix::of(matrix, found.value_or(GridShape{})).has_value());
      return found.value_or(GridShape{});
    };
    for (const bool has_corners : {false, true})
      for (const GridShape& shape : {GridShape{{12, 1, 1}}, GridShape{{7, 5, 1}}, GridShape{{20, 31, 1}}, GridShape{{4, 5, 6}}}) CHECK(shape_of(shape, has_corners) == shape);
    // a ring, and a line of ends that meet those of the next one
    CHECK_FALSE(linear::grid_shape(SparseMatrix(5, 5, {{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 4, 1}, {4, 0, 1}})));
    CHECK_FALSE(linear::grid_shape(SparseMatrix(6, 6, {{0, 1, 1}, {1, 2, 1}, {2, 3, 1}, {3, 4, 1}, {4, 5, 1}, {0, 3, 1}, {1, 4, 1}, {2, 5, 1}})));
    CHECK_FALSE(GridMatrix::of(SparseMatrix(2, 2, {{0, 0, 1}, {0, 1, -1}, {1, 0, -2}, {1, 1, 1}}), {{2, 1, 1}}));
  }
}

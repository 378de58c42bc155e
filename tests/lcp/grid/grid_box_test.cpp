#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <random>

#include <perp/core/base/index.hpp>
#include <perp/lcp/grid/grid_box.hpp>

using namespace perp;
using linear::GridField;
using linear::GridMatrix;
using linear::GridShape;

namespace {

/// own + the negative Laplacian of a square of N×N nodes, whose entries are `by`.
GridMatrix matrix_of(int N, double own, double by) {
  GridMatrix A(GridShape{{N, N, 1}});
  for (int i = 0; i < N * N; ++i) {
    A.diagonal()[i] = own + 4 * by;
    if (i % N < N - 1) A.room_beside(14)[i] = -by;
    if (i / N < N - 1) A.room_beside(16)[i] = -by;
  }
  return A;
}

/// Bounds and right sides that hold some nodes from below, some from above and leave some free.
void pose(std::mt19937& random, GridBox& box, int N, double force) {
  std::uniform_real_distribution<double> share(-1, 1);
  for (int i = 0; i < N * N; ++i) {
    box.right()[i] = force * (std::sin(5.0 * (i % N) / N) * std::cos(4.0 * (i / N) / N) + 0.1 * share(random));
    box.lower()[i] = i % 11 == 0 ? -inf : -0.02 - 0.001 * share(random);
    box.upper()[i] = 0.03;
  }
}

/// Projected sweeps of Gauss and Seidel, which converge to the solution.
std::vector<double> by_sweeps(const GridMatrix& A, GridBox& box, int N) {
  std::vector<double> x(at(N * N), 0.0);
  for (int sweep = 0; sweep < 4000; ++sweep)
    for (int i = 0; i < N * N; ++i) {
      double sum = box.right()[i];
      const double by = A.beside(14)[0];
      if (i % N > 0) sum -= by * x[at(i - 1)];
      if (i % N < N - 1) sum -= by * x[at(i + 1)];
      if (i >= N) sum -= by * x[at(i - N)];
      if (i < N * N - N) sum -= by * x[at(i + N)];
      x[at(i)] = std::clamp(sum / A.diagonal()[i], box.lower()[i], box.upper()[i]);
    }
  return x;
}

}  // namespace

TEST_SUITE("lcp/grid/grid_box") {
  TEST_CASE("nodes between bounds on a grid are where projected sweeps bring them, and few sets of the grid itself are solved") {
    std::mt19937 random(17);
    for (const int N : {3, 10, 33, 40})
      for (const double own : {1.0, 30.0, 0.0}) {  // 0: no row is dominant inside
        CAPTURE(N);
        CAPTURE(own);
        const GridMatrix A = matrix_of(N, own, N * N);
        GridBox box(GridMatrix(A), true);
        REQUIRE(box.is_certified());
        pose(random, box, N, 10 + own);
        const GridBox::Outcome outcome = box.solve_held();
        REQUIRE(outcome != GridBox::Outcome::unknown);
        if (outcome == GridBox::Outcome::moves) REQUIRE(box.find());
        CHECK(box.violated() == 0);
        CHECK(box.counts().sets <= 10);
        const std::vector<double> expected = by_sweeps(A, box, N);
        for (int i = 0; i < N * N; ++i) {
          CHECK(std::abs(box.x()[i] - expected[at(i)]) <= 1e-9);
          CHECK(box.x_error(i) <= 1e-11);
          if (box.held()[at(i)] == GridBox::at_lower) CHECK(box.y(i) >= -box.y_error(i));
          if (box.held()[at(i)] == GridBox::at_upper) CHECK(box.y(i) <= box.y_error(i));
          if (box.held()[at(i)] == GridBox::free) CHECK(std::abs(box.y(i)) <= 1e-10 * N * N);
        }
      }
  }

  TEST_CASE("a matrix that is no M-matrix is not certified") {
    GridMatrix growing = matrix_of(10, -50, 100), positive = matrix_of(10, 1, 100);
    positive.room_beside(14)[3] = 1;
    CHECK_FALSE(GridBox(std::move(growing), false).is_certified());
    GridBox box(std::move(positive), false);
    CHECK_FALSE(box.is_certified());
    CHECK_FALSE(box.find());
  }
}

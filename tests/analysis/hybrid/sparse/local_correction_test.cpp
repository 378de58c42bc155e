#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include <perp/analysis/hybrid/sparse/local_correction.hpp>

namespace {

using perp::HybridStructure;
using perp::LocalCorrection;
using perp::Vector;
using perp::linear::Place;

/// A chain of n unknowns: `own` on the diagonal, `other` beside it; row i determines unknown i.
struct ChainMatrix {
  ChainMatrix(int n, double own, double other) {
    for (int i = 0; i < n; ++i)
      for (int j = std::max(i - 1, 0); j <= std::min(i + 1, n - 1); ++j) {
        places.push_back({i, j});
        values.push_back(i == j ? own : other);
      }
    for (int i = 0; i < n; ++i) structure.matching.column_of_row.push_back(i);
  }
  std::vector<Place> places{};
  std::vector<double> values{};
  HybridStructure structure{};
};

TEST_SUITE_BEGIN("analysis/hybrid/sparse");

TEST_CASE("corrections of few rows solve the whole system, and reach as far as they are larger than rounding") {
  constexpr int n = 400;
  ChainMatrix chain(n, 100.5, -0.2);
  LocalCorrection local(n, chain.structure, chain.places);
  REQUIRE(local.serves());
  local.set_matrix(chain.values);
  const Vector x = Vector::Constant(n, 20);
  for (const int row : {7, 8, 300}) local.replace(row, 0.5 + row);
  REQUIRE(local.solve(x));
  Vector delta = Vector::Zero(n), residual = Vector::Zero(n);
  for (const int unknown : local.unknowns()) delta[unknown] = local.correction(unknown);
  for (std::size_t k = 0; k < chain.places.size(); ++k)
    residual[chain.places[k].row] += chain.values[k] * delta[chain.places[k].column];
  for (int i = 0; i < n; ++i) {
    const double r = i == 7 || i == 8 || i == 300 ? 0.5 + i : 0;
    CHECK(std::abs(residual[i] - r) <= 1e-12);
  }
  CHECK(local.unknowns().size() < 40);
  local.replace(3, 1);  // nothing is left of the solution before
  REQUIRE(local.solve(x));
  CHECK(local.correction(3) == doctest::Approx(1 / 100.5).epsilon(1e-5));
  CHECK(local.correction(300) == 0);
}

TEST_CASE("systems whose far unknowns depend on each other are left to the whole solution") {
  constexpr int n = 400;
  ChainMatrix chain(n, 2, -1);
  LocalCorrection local(n, chain.structure, chain.places);
  local.set_matrix(chain.values);
  local.replace(200, 1);
  CHECK_FALSE(local.solve(Vector::Constant(n, 1)));
  ChainMatrix without(n, 2, -1);
  without.structure.matching.column_of_row[5] = n + 5;  // a binary
  CHECK_FALSE(LocalCorrection(n, without.structure, without.places).serves());
}

TEST_SUITE_END();

}  // namespace

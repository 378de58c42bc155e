#include <doctest/doctest.h>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <perp/core/base/error.hpp>
#include <perp/core/linear/sparse_lu.hpp>

namespace {

using perp::Matrix;
using perp::Vector;
using perp::linear::Place;
using perp::linear::SparseLu;

TEST_CASE("factors that would not fit into memory are refused by the places of the entries") {
  std::mt19937 random(5);
  const int n = 2000;
  std::uniform_int_distribution<int> column(0, n - 1);
  std::vector<Place> places;
  for (int i = 0; i < n; ++i) {
    std::set<int> columns{i};
    while (columns.size() < 5) columns.insert(column(random));
    for (const int j : columns) places.push_back({i, j});
  }
  constexpr double mebibyte = 1 << 20;
  CHECK_NOTHROW(SparseLu(n, places));
  try {
    SparseLu(n, places, mebibyte);
    FAIL("made");
  } catch (const perp::InvalidInput& error) {
    const std::string message = error.what();
    CHECK(message.starts_with("a step of 2000 unknowns fills: its factors take 0.0"));
    CHECK(message.find("GiB or more where this machine has 0.000977") != std::string::npos);
  }
  places.clear();
  for (int i = 0; i < n; ++i) places.push_back({i, i});
  CHECK_NOTHROW(SparseLu(n, places, mebibyte));  // as many unknowns that do not fill
}

TEST_CASE("a sparse factorization solves what it was made of, also with other values on the same places") {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> entry(-1, 1);
  const int n = 40;
  std::vector<Place> places;
  for (int i = 0; i < n; ++i) {
    places.push_back({i, (i + 3) % n});  // a diagonal elsewhere: pivots have to be found
    if (i % 4 == 0) places.push_back({i, i});
    places.push_back({i, (7 * i + 1) % n == (i + 3) % n ? (7 * i + 2) % n : (7 * i + 1) % n});
  }
  std::vector<Place> once;
  for (const Place& place : places) {
    bool is_new = true;
    for (const Place& other : once)
      is_new = is_new && !(other.row == place.row && other.column == place.column);
    if (is_new) once.push_back(place);
  }
  SparseLu factors(n, once);
  for (int round = 0; round < 20; ++round) {
    Matrix A = Matrix::Zero(n, n);
    std::vector<double> values;
    for (const Place& place : once) {
      // Every second round makes the pivots of the round before tiny.
      const bool is_main = place.column == (place.row + 3) % n;
      values.push_back(entry(random) * (is_main ? (round % 2 == 0 ? 100 : 1e-9) : 1) + (is_main ? 1e-3 : 0));
      A(place.row, place.column) = values.back();
    }
    if (!factors.factorise(values)) continue;
    Vector x(n);
    for (double& value : x) value = entry(random);
    const Vector b = A * x;
    Vector solution = b;
    factors.solve(solution);
    const double size = A.cwiseAbs().rowwise().sum().maxCoeff() * solution.cwiseAbs().maxCoeff();
    CHECK((A * solution - b).cwiseAbs().maxCoeff() <= 1e-10 * size);
  }
  CHECK(factors.factorisations() == 20);
}

TEST_CASE("a singular sparse matrix has no factorization, and a place outside is refused") {
  SparseLu factors(2, {{0, 0}, {0, 1}, {1, 0}, {1, 1}});
  const std::vector<double> singular{1, 2, 0, 0}, regular{0, 2, 3, 0};
  CHECK_FALSE(factors.factorise(singular));
  REQUIRE(factors.factorise(regular));
  Vector b{{4, 9}};
  factors.solve(b);
  CHECK(b[0] == 3);
  CHECK(b[1] == 2);
  CHECK_THROWS_AS(SparseLu(2, {{0, 2}}), std::out_of_range);
}

}  // namespace

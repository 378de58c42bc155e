#include <doctest/doctest.h>
#include <cmath>
#include <random>

#include <perp/core/linear/linear_program.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/exact/elimination.hpp>
#include <perp/lcp/parametric/mode_cache.hpp>

using namespace perp;

namespace {

/// A random family with k parameters; small integers make degenerate modes common.
ParametricMlcp random_family(std::mt19937& random, int p, int m, int k) {
  std::uniform_int_distribution<int> entry(-2, 2), kind(0, 4);
  const auto matrix = [&](int rows, int columns) {
    Matrix M(rows, columns);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) M(i, j) = entry(random);
    return M;
  };
  ParametricMlcp family;
  family.base = {
      matrix(p, p), matrix(p, m), matrix(p, 1), matrix(m, p), matrix(m, m), matrix(m, 1), {}};
  for (int i = 0; i < m; ++i) {
    const int law = kind(random);
    family.base.laws.push_back(law == 0   ? sign()
                               : law == 1 ? abs_plus_sign()
                               : law == 2 ? saturation(-1, 1)
                                          : complementarity());
  }
  family.Q1 = matrix(p, k);
  family.Q2 = matrix(m, k);
  family.W = Matrix::Identity(p, p);
  family.Z = matrix(p, k);
  return family;
}

Norm norm_at(const ParametricMlcp& family, const Vector& theta) {
  Norm norm;
  norm.W = Matrix::Zero(family.base.p(), family.base.p() + family.base.m());
  norm.W.leftCols(family.base.p()) = family.W;
  norm.center = Vector::Zero(norm.W.cols());
  norm.center.head(family.base.p()) = family.Z * theta;
  return norm;
}

}  // namespace

TEST_SUITE("lcp/mode_cache") {
  TEST_CASE("the nearest solution over the table is the nearest of the complete enumeration") {
    std::mt19937 random(20);
    std::normal_distribution<double> normal;
    int compared = 0, none = 0;
    for (int trial = 0; trial < 300; ++trial) {
      CAPTURE(trial);
      const int p = 1 + trial % 3, m = 1 + trial % 4, k = 1 + trial % 2;
      const ParametricMlcp family = random_family(random, p, m, k);
      ModeCache cache(family);
      Mlcp problem = family.base;
      for (int point = 0; point < 5; ++point) {
        Vector theta(k);
        for (int j = 0; j < k; ++j) theta[j] = normal(random);
        instantiate(family, theta.data(), problem);
        const SolutionSet set = enumerate(problem);
        const ModeCache::Choice choice = cache.nearest(theta.data(), -1);
        if (choice.status == Status::not_enumerated) {
          // Said only where a singular mode is consistent: the enumeration may find a continuum
          // there.
          continue;
        }
        if (choice.status == Status::no_solution) {
          CHECK(multiplicity(set) == Multiplicity::none);
          ++none;
          continue;
        }
        ++compared;
        const Nearest expected = nearest(problem, set, norm_at(family, theta));
        REQUIRE(expected.status == Status::solved);
        CHECK(choice.norm == doctest::Approx(expected.norm).epsilon(1e-9));
        CHECK(choice.solutions == count_of_u(set));
        Vector u(p), lambda(m);
        cache.map(choice.map).u(theta.data(), u.data());
        cache.map(choice.map).lambda(theta.data(), lambda.data());
        CHECK(residual(problem, u, lambda) < 1e-9);
      }
    }
    CHECK(compared > 500);
    CHECK(none > 20);
  }

  TEST_CASE("from an admissible mode the rivals alone give the minimal norm") {
    std::mt19937 random(21);
    std::normal_distribution<double> normal;
    int certified = 0, with_rivals = 0;
    for (int trial = 0; trial < 200; ++trial) {
      const int k = 1 + trial % 3;
      const ParametricMlcp family = random_family(random, 2, 3, k);
      ModeCache cache(family);
      for (int point = 0; point < 20; ++point) {
        Vector theta(k);
        for (int j = 0; j < k; ++j) theta[j] = normal(random);
        const ModeCache::Choice all = cache.nearest(theta.data(), -1);
        if (all.status != Status::solved) continue;
        for (int i = 0; i < cache.tabulate(); ++i) {
          if (cache.map(i).kind() != ModeMap::Kind::regular || !cache.admissible(i, theta.data()))
            continue;
          const ModeCache::Choice from = cache.nearest_from(i, theta.data());
          REQUIRE(from.status == Status::solved);
          (cache.rivals(i).empty() ? certified : with_rivals) += 1;
          double error = 0;
          CHECK(std::sqrt(cache.map(from.map).squared_norm(theta.data(), &error)) ==
                doctest::Approx(all.norm).epsilon(1e-9));
        }
      }
    }
    CHECK(certified > 100);
    CHECK(with_rivals > 100);
  }

  TEST_CASE("modes with the same solutions are one map: 3 of the 8 of [RAB] (36) are distinct") {
    const double h = 1e-3, B1 = -0.5, B2 = 1;
    ParametricMlcp family;
    family.base = {Matrix{{1, 0, -h * B1}, {0, 1, -h * B2}, {1, -1, 0}},
                   Matrix{{0, 0, 0}, {0, 0, 0}, {1, -1, 0}},
                   Vector{{-h, 0, 1}},
                   Matrix{{2, 0, 0}, {1, 0, 0}, {0, 0, 0}},
                   Matrix{{1, 0, 0}, {0, 0, 1}, {0, -1, 0}},
                   Vector{{0, 0, 2}},
                   {3, complementarity()}};
    family.Q1 = Matrix{{-1, 0}, {0, -1}, {0, 0}};
    family.Q2 = Matrix::Zero(3, 2);
    family.W = Matrix{{1, 0, 0}, {0, 1, 0}};
    family.Z = Matrix::Identity(2, 2);
    ModeCache cache(family);
    int distinct = 0;  // the others are admissible at the corners of these only
    const int maps = cache.tabulate();
    for (int i = 0; i < maps; ++i) {
      if (cache.map(i).kind() != ModeMap::Kind::regular) continue;
      Matrix G;
      Vector g;
      cache.map(i).polyhedron(G, g);
      distinct += test_interior(G, g).verdict == InteriorTest::Verdict::interior;
    }
    CHECK(distinct == 3);
    CHECK(cache.factorisations() == 8);
    for (int i = 0; i < maps; ++i)
      if (cache.map(i).kind() == ModeMap::Kind::regular) CHECK(cache.rivals(i).empty());
  }

  TEST_CASE("a mode whose law holds multipliers at what it contradicts never has a solution, to the last digit, and one that does not has") {
    // w2 = 3 λ1 - q with λ1 = 1/3 of a relay: exactly 0 where q = 3 times the double next to 1/3.
    const double third = 1.0 / 3;
    const auto kind_of = [&](double q2, double coupling) {
      ParametricMlcp family;
      family.base = {Matrix{{1}}, Matrix{{0, 0}}, Vector{{0}}, Matrix{{1}, {0}}, Matrix{{0, 0}, {coupling, 0}},
                     Vector{{0, q2}}, {relay(-third, third), complementarity()}};
      family.Q1 = Matrix{{-1}};
      family.Q2 = Matrix{{0}, {0}};
      family.W = Matrix{{1}};
      family.Z = Matrix{{1}};
      return ModeMap(family, {2, 1}).kind();  // λ1 = third, w2 = 0
    };
    CHECK(kind_of(-0.5, 1) == ModeMap::Kind::never);
    CHECK(kind_of(-third, 1) != ModeMap::Kind::never);
    CHECK(kind_of(-std::nextafter(third, 1), 1) == ModeMap::Kind::never);
    CHECK(kind_of(-1, 3) == ModeMap::Kind::never);  // three times the double are no 1
  }

  TEST_CASE("of many modes one that was met often elsewhere gets rows at once, with the numbers of its points") {
    constexpr int m = 9;  // 512 modes
    ParametricMlcp family;
    family.base = {Matrix(0, 0), Matrix(0, m), Vector(0), Matrix(m, 0), Matrix(3 * Matrix::Identity(m, m) - Matrix::Ones(m, m) / 9),
                   Vector(Vector::LinSpaced(m, -1, 1)), std::vector<Law>(m, complementarity())};
    family.Q1 = Matrix(0, 1);
    family.Q2 = Matrix(Vector::LinSpaced(m, 1, 2));
    family.W = Matrix(0, 0);
    family.Z = Matrix(0, 1);
    const Mode mode{1, 1, 0, 0, 1, 0, 0, 0, 0};
    ModeCache points(family), rows(family);
    const int first = points.find(mode), often = rows.find(mode, true);
    REQUIRE(first >= 0);
    REQUIRE(often >= 0);
    CHECK_FALSE(points.map(first).has_rows());
    CHECK(rows.map(often).has_rows());
    const double theta = 0.3;
    Vector at_point(m), by_rows(m);
    points.map(first).lambda(&theta, at_point.data());
    rows.map(often).lambda(&theta, by_rows.data());
    for (int i = 0; i < m; ++i) CHECK(by_rows[i] == doctest::Approx(at_point[i]).epsilon(1e-15));
    CHECK(points.find(mode, true) == first);  // known by points so far
    CHECK(points.map(first).has_rows());
  }

  TEST_CASE("a linear program's verdict on the interior of a polyhedron is right on known ones") {
    using Verdict = InteriorTest::Verdict;
    const Matrix strip{{1, 0}, {-1, 0}};
    CHECK(test_interior(strip, Vector{{1, 1}}).verdict == Verdict::interior);
    CHECK(test_interior(strip, Vector{{0, 0}}).verdict == Verdict::flat);
    CHECK(test_interior(strip, Vector{{-1, 0}}).verdict == Verdict::empty);
    CHECK(test_interior(Matrix(0, 2), Vector(0)).verdict == Verdict::interior);
    const Matrix triangle{{1, 0}, {0, 1}, {-0.6, -0.8}};
    CHECK(test_interior(triangle, Vector{{0, 0, 1}}).verdict == Verdict::interior);
    CHECK(test_interior(triangle, Vector{{0, 0, 0}}).verdict == Verdict::flat);
    CHECK(test_interior(triangle, Vector{{0, 0, -1e-3}}).verdict == Verdict::empty);
  }

  TEST_CASE("elimination keeps exactly the parameters for which a choice exists, and makes one") {
    std::mt19937 random(22);
    std::normal_distribution<double> normal;
    int possible = 0, impossible = 0;
    for (int trial = 0; trial < 200; ++trial) {
      const int free = 1 + trial % 3;
      Matrix rows(6, free + 3);
      for (int i = 0; i < 6; ++i)
        for (int j = 0; j < free + 3; ++j) rows(i, j) = normal(random);
      Elimination elimination;
      if (!elimination.run(rows, free)) continue;
      const Vector theta{{normal(random), normal(random)}};
      const Vector full = (Vector(3) << theta, 1).finished();
      const Vector projected = elimination.projected() * full;
      const bool admitted = projected.size() == 0 || projected.minCoeff() >= 0;
      std::vector<double> t(static_cast<std::size_t>(free));
      elimination.choose(theta.data(), t.data());
      Vector point(free + 3);
      for (int j = 0; j < free; ++j) point[j] = t[static_cast<std::size_t>(j)];
      point.tail(3) = full;
      const double worst = (rows * point).minCoeff();
      if (admitted) {
        CHECK(worst > -1e-9);
        ++possible;
      } else {
        CHECK(worst < 0);
        ++impossible;
      }
    }
    CHECK(possible > 30);
    CHECK(impossible > 20);
  }
}

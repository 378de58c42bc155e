#include <doctest/doctest.h>
#include <cmath>
#include <map>

#include <perp/core/base/error.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/nearest/nearest_search.hpp>
#include <perp/lcp/parametric/certificate.hpp>
#include <perp/tests/from_environment.hpp>
#include <perp/tests/lcp/random_problems.hpp>

using namespace perp;

namespace {

/// Random small W and center; sometimes W sees only some of the unknowns, or u alone.
Norm random_norm(test::RandomProblems& random, const Mlcp& problem) {
  const int n = problem.p() + problem.m(), rows = random.integer(1, n);
  Norm norm{Matrix::Zero(rows, n), Vector::Zero(n)};
  const double density = random.chance(0.5) ? 1 : 0.5;
  for (double& entry : norm.W.reshaped())
    if (random.chance(density)) entry = random.integer(-2, 2);
  for (double& entry : norm.center) entry = random.integer(-3, 3);
  return norm;
}

/// k steps of [RAB] eq. (36) near the kink, B = (-1, 0.5), h = 0.1: two solutions each, x1 of a
/// neighbour pushing by `coupling` in one or both directions; the norm is that of (x1, x2).
Mlcp coupled_steps(int k, double coupling, bool both, Norm& norm) {
  Mlcp all{.M11 = Matrix::Zero(3 * k, 3 * k),
           .M12 = Matrix::Zero(3 * k, 3 * k),
           .q1 = Vector(3 * k),
           .M21 = Matrix::Zero(3 * k, 3 * k),
           .M22 = Matrix::Zero(3 * k, 3 * k),
           .q2 = Vector(3 * k),
           .laws = std::vector<Law>(static_cast<std::size_t>(3 * k), complementarity())};
  norm = {Matrix::Zero(2 * k, 6 * k), Vector::Zero(6 * k)};
  for (int i = 0; i < k; ++i) {
    const int at = 3 * i;
    all.M11.block(at, at, 3, 3) << 1, 0, 0.1, 0, 1, -0.05, 1, -1, 0;
    all.M12.block(at, at, 3, 3) << 0, 0, 0, 0, 0, 0, 1, -1, 0;
    all.q1.segment(at, 3) << 0.01 - 0.1, 0.99, 1;
    all.M21.block(at, at, 3, 3) << 2, 0, 0, 1, 0, 0, 0, 0, 0;
    all.M22.block(at, at, 3, 3) << 1, 0, 0, 0, 0, 1, 0, -1, 0;
    all.q2.segment(at, 3) << 0, 0, 2;
    if (i > 0) all.M11(at, at - 3) = coupling;
    if (i > 0 && both) all.M11(at - 3, at) = coupling;
    norm.W(2 * i, at) = norm.W(2 * i + 1, at + 1) = 1;
    norm.center[at] = -0.01;
    norm.center[at + 1] = -0.99;
  }
  return all;
}

void compare(const Mlcp& problem, const Norm& norm, std::map<Status, int>& seen) {
  const SolutionSet set = enumerate(problem);
  REQUIRE(set.complete);
  const Nearest wanted = nearest(problem, set, norm);
  const ProvedNearest found = find_nearest(problem, norm, {.max_nodes = 20'000});
  ++seen[found.status];
  if (found.status == Status::not_enumerated) return;
  REQUIRE(found.status == wanted.status);
  if (found.status != Status::solved) return;
  const double size =
      1e-7 * wanted.norm + 1e-7 * (norm.W.cwiseAbs() * norm.center.cwiseAbs()).norm() + 1e-9;
  CHECK(std::abs(found.norm - wanted.norm) <= size);
  CHECK(found.bound <= wanted.norm + size);  // a bound above a solution would be no bound
  CHECK(found.bound >= wanted.norm * (1 - 1e-6) - size);
  CHECK(residual(problem, found.solution.u, found.solution.lambda) <= solution_tolerance);
}

/// A dense problem of complementarity that would have one solution but for one column of M, which is
/// chosen so that two given points solve it; integers up to units of powers of two.
struct Planted {
  Mlcp problem;
  Vector points[2];  ///< λ

  Planted(test::RandomProblems& random, int m) {
    const auto integers = [&](int rows, int columns, int size) {
      Matrix matrix(rows, columns);
      for (double& entry : matrix.reshaped()) entry = random.integer(-size, size);
      return matrix;
    };
    const Matrix G = integers(m, m, 2), K = integers(m, m, 3);
    Matrix M = G * G.transpose() + K - K.transpose() + Matrix::Identity(m, m);
    // Two points whose modes differ in one to all laws, on corners of laws at times.
    const double differing = random.chance(0.5) ? 0.1 : 0.6;
    Vector w[2];
    for (int s = 0; s < 2; ++s) points[s] = w[s] = Vector::Zero(m);
    for (int i = 0; i < m; ++i) {
      const bool first = random.chance(0.5), second = first != random.chance(differing);
      (first ? points[0] : w[0])[i] = random.integer(random.chance(0.1) ? 0 : 1, 9);
      (second ? points[1] : w[1])[i] =
          first == second && random.chance(0.3) ? (first ? points[0] : w[0])[i] : random.integer(1, 9);
    }
    const int k = random.integer(0, m - 1);  // the points differ by 1 there
    points[0][k] = random.integer(0, 3);
    points[1][k] = points[0][k] + 1;
    w[1][k] = w[0][k] = 0;
    Vector d = points[1] - points[0];
    d[k] = 0;
    M.col(k) = (w[1] - w[0]) - M * d;
    problem = {.M11 = Matrix(0, 0),
               .M12 = Matrix(0, m),
               .q1 = Vector(0),
               .M21 = Matrix(m, 0),
               .M22 = M,
               .q2 = w[0] - M * points[0],
               .laws = std::vector<Law>(static_cast<std::size_t>(m), complementarity())};
    if (random.chance(0.5)) change_units(random);
  }

  void change_units(test::RandomProblems& random) {
    const int m = problem.m();
    Vector of_lambda(m), of_w(m);
    for (double& unit : of_lambda) unit = std::ldexp(1, random.integer(-12, 12));
    for (double& unit : of_w) unit = std::ldexp(1, random.integer(-12, 12));
    problem.M22 = of_w.asDiagonal() * problem.M22 * of_lambda.cwiseInverse().asDiagonal();
    problem.q2 = problem.q2.cwiseProduct(of_w);
    for (Vector& point : points) point = point.cwiseProduct(of_lambda);
  }
};

/// Is a point that is known to be a solution in a set that is said to be complete?
bool contains(const SolutionSet& set, const Vector& lambda) {
  for (const Piece& piece : pieces(set, 4096)) {
    if (piece.dimension > 0) return true;  // a continuum: not looked at further
    if (((piece.vertices.col(0) - lambda).array().abs() <= 1e-9 * lambda.array().abs() + 1e-300).all())
      return true;
  }
  return false;
}

}  // namespace

TEST_SUITE("lcp/nearest_search") {
  // PERP_PLANTED_COUNT and PERP_PLANTED_SEED make it a campaign.
  TEST_CASE("dense problems with two planted solutions: both are found, or nothing is claimed") {
    const unsigned long number = test::from_environment("PERP_PLANTED_COUNT", 40UL);
    const unsigned long first = test::from_environment("PERP_PLANTED_SEED", 1UL);
    int complete = 0, nearest = 0, ties = 0;
    for (unsigned long seed = first; seed < first + number; ++seed) {
      CAPTURE(seed);
      test::RandomProblems random(static_cast<unsigned>(seed));
      const int m = random.integer(11, number > 40 ? 40 : 18);
      const Planted planted(random, m);
      for (const Vector& point : planted.points)
        REQUIRE(residual(planted.problem, Vector(0), point) <= solution_tolerance);
      CHECK_FALSE(has_at_most_one_solution(planted.problem));
      const SolutionSet set = enumerate(planted.problem, {.max_nodes = 4000});
      if (set.complete) {
        ++complete;
        CHECK(contains(set, planted.points[0]));
        CHECK(contains(set, planted.points[1]));
        CHECK(set.certificate.find("at most one solution") == std::string::npos);
      }
      // Distances that are equal, that differ by 1e-12 of themselves, that are far from each other.
      const Vector middle = (planted.points[0] + planted.points[1]) / 2;
      const Vector half = (planted.points[0] - planted.points[1]) / 2;
      for (const double aside : {0.0, 1e-12, -1e-12, 0.5}) {
        const Norm norm{Matrix::Identity(m, m), middle + aside * half};
        const ProvedNearest found = find_nearest(planted.problem, norm, {.max_nodes = 400});
        const double least = std::min((planted.points[0] - norm.center).norm(),
                                      (planted.points[1] - norm.center).norm());
        CHECK(found.status != Status::no_solution);
        CHECK(found.bound <= least * (1 + 1e-14));
        if (found.status != Status::solved) continue;
        ++(aside == 0 ? ties : nearest);
        CHECK(found.norm <= least * (1 + 1e-7));
      }
    }
    MESSAGE(number << " problems: " << complete << " enumerated, nearest proved of " << nearest
                   << " and of " << ties << " ties");
    CHECK(complete > 0);
    CHECK(nearest > 0);
  }

  TEST_CASE("random small problems: as near as the nearest of all solutions") {
    std::map<Status, int> seen;
    for (const std::string& family : test::RandomProblems::families())
      for (unsigned seed = 0; seed < 150; ++seed) {
        CAPTURE(family);
        CAPTURE(seed);
        test::RandomProblems random(seed + 40);
        const Mlcp problem = random.make(family);
        if (family == "scaled") {  // a norm in the units of the problem
          const Scaling scaling = equilibrate(problem);
          Norm norm{Matrix::Zero(problem.p() + problem.m(), problem.p() + problem.m()),
                    Vector::Zero(problem.p() + problem.m())};
          norm.W.diagonal() << scaling.u_scale.cwiseInverse(), scaling.lambda_scale.cwiseInverse();
          compare(problem, norm, seen);
        } else {
          compare(problem, random_norm(random, problem), seen);
        }
      }
    CHECK(seen[Status::solved] > 500);
    CHECK(seen[Status::no_solution] > 50);
    CHECK(seen[Status::not_enumerated] == 0);
  }

  TEST_CASE("dense problems of five to eight laws, many of them with several solutions") {
    std::map<Status, int> seen;
    for (unsigned seed = 0; seed < 200; ++seed) {
      CAPTURE(seed);
      test::RandomProblems random(seed + 9000);
      Mlcp problem = random.dense(0, random.integer(5, 8), 3, 0.8);
      if (seed % 2 == 0) problem.q2 = problem.q2.cwiseAbs();
      if (seed % 5 == 0) problem.M22.row(1) = problem.M22.row(0);
      compare(problem, random_norm(random, problem), seen);
    }
    CHECK(seen[Status::solved] > 80);
    CHECK(seen[Status::no_solution] > 20);
    CHECK(seen[Status::not_enumerated] == 0);
  }

  TEST_CASE("coupled index-2 steps: at most six nodes a law, and what enumeration finds") {
    for (const bool both : {false, true})
      for (const int k : {2, 4, 8, 16}) {
        CAPTURE(both);
        CAPTURE(k);
        Norm norm;
        const Mlcp problem = coupled_steps(k, 1e-3, both, norm);
        const ProvedNearest found = find_nearest(problem, norm);
        REQUIRE(found.status == Status::solved);
        CHECK(found.nodes <= 6 * 3 * k);
        CHECK(found.bound <= found.norm);
        CHECK(found.bound >= found.norm * (1 - 1e-7));
        CHECK(found.certificate.find("bound: no solution is nearer than ") == 0);
        if (k > 4) continue;
        const Nearest wanted = nearest(problem, enumerate(problem), norm);
        CHECK(found.norm == doctest::Approx(wanted.norm).epsilon(1e-9));
      }
  }

  TEST_CASE("strong couplings too") {
    for (const double coupling : {-0.5, 0.1, 0.3, 1.0})
      for (const bool both : {false, true}) {
        CAPTURE(coupling);
        Norm norm;
        const Mlcp problem = coupled_steps(4, coupling, both, norm);
        std::map<Status, int> seen;
        compare(problem, norm, seen);
        CHECK(seen[Status::not_enumerated] == 0);
      }
  }

  TEST_CASE("blocks that nothing couples are searched one by one") {
    Norm norm;
    const Mlcp problem = coupled_steps(40, 0, true, norm);
    const ProvedNearest found = find_nearest(problem, norm);
    REQUIRE(found.status == Status::solved);
    CHECK(found.nodes <= 40 * 8);
    Norm of_one;
    const ProvedNearest one = find_nearest(coupled_steps(1, 0, true, of_one), of_one);
    CHECK(found.norm == doctest::Approx(std::sqrt(40) * one.norm));
  }

  TEST_CASE("a search that the budget ends gives what it has and does not call it proved") {
    Norm norm;
    const Mlcp problem = coupled_steps(6, 1e-3, true, norm);
    const double least = find_nearest(problem, norm).norm;
    for (const long budget : {0, 1, 5, 11}) {
      const ProvedNearest found = find_nearest(problem, norm, {.max_nodes = budget});
      CHECK(found.status == Status::not_enumerated);
      CHECK(found.nodes <= budget);
      CHECK(found.bound <= least);
      CHECK(found.certificate.find("not proved complete: ") == 0);
    }
  }

  TEST_CASE("a continuum is met at its nearest point") {
    // w = λ1 + λ2 - 2 = 0 on a segment; the point nearest to the origin is (1, 1)
    const Mlcp problem{.M11 = Matrix(0, 0),
                       .M12 = Matrix(0, 2),
                       .q1 = Vector(0),
                       .M21 = Matrix(2, 0),
                       .M22 = Matrix{{1, 1}, {1, 1}},
                       .q2 = Vector{{-2, -2}},
                       .laws = {2, complementarity()}};
    const ProvedNearest found = find_nearest(problem, {Matrix::Identity(2, 2), Vector::Zero(2)});
    REQUIRE(found.status == Status::solved);
    CHECK((found.solution.lambda - Vector{{1, 1}}).norm() < 1e-9);
    CHECK(found.norm == doctest::Approx(std::sqrt(2)));
  }

  TEST_CASE("norms that do not fit are refused") {
    Norm norm;
    const Mlcp problem = coupled_steps(1, 0, true, norm);
    CHECK_THROWS_WITH_AS(find_nearest(problem, {Matrix::Zero(1, 5), norm.center}),
                         "norm: W must have 6 columns but has 5", InvalidInput);
    CHECK_THROWS_AS(find_nearest(problem, {norm.W, Vector::Zero(5)}), InvalidInput);
  }
}

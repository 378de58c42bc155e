#include <doctest/doctest.h>

#include <perp/core/base/error.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/exact/exact_norm.hpp>
#include <perp/lcp/exact/exact_pieces.hpp>
#include <perp/lcp/polyhedra/affine_space.hpp>
#include <perp/lcp/residual_gate.hpp>

#include <perp/tests/lcp/random_problems.hpp>
#include <perp/tests/lcp/reference_problems.hpp>

using namespace perp;

namespace {

Vector together(const Solution& solution) {
  Vector y(solution.u.size() + solution.lambda.size());
  y << solution.u, solution.lambda;
  return y;
}

/// x with A x nearest to b, by the normal equations.
Vector least_squares(const Matrix& A, const Vector& b) {
  const Matrix left = A.transpose() * A;
  const Vector right = A.transpose() * b;
  std::vector<std::vector<long double>> rows;
  for (Eigen::Index i = 0; i < left.rows(); ++i) {
    rows.emplace_back(left.row(i).begin(), left.row(i).end());
    rows.back().push_back(-right[i]);
  }
  const auto solution = solve_equations(rows, static_cast<int>(left.cols()));
  REQUIRE(solution);
  Vector x(left.cols());
  for (Eigen::Index j = 0; j < x.size(); ++j)
    x[j] = static_cast<double>(solution->origin[static_cast<std::size_t>(j)]);
  return x;
}

/// Least ‖W (y - center)‖ over a piece, by trying every subset of its generators: the affine
/// minimiser of each subset counts where it is a convex combination.
double brute_force(const Piece& piece, const Matrix& W, const Vector& center) {
  const Eigen::Index v = piece.vertices.cols(), r = piece.rays.cols(), l = piece.lines.cols();
  double least = inf;
  for (unsigned subset = 1; subset < 1U << (v + r); ++subset) {
    std::vector<Eigen::Index> vertices, rays;
    for (Eigen::Index j = 0; j < v + r; ++j)
      if ((subset >> j & 1U) != 0) (j < v ? vertices : rays).push_back(j < v ? j : j - v);
    if (vertices.empty()) continue;
    const Vector origin = piece.vertices.col(vertices[0]);
    const auto others = static_cast<Eigen::Index>(vertices.size() - 1 + rays.size());
    Matrix directions(W.cols(), others + l);
    Eigen::Index k = 0;
    for (std::size_t i = 1; i < vertices.size(); ++i)
      directions.col(k++) = piece.vertices.col(vertices[i]) - origin;
    for (const Eigen::Index j : rays) directions.col(k++) = piece.rays.col(j);
    directions.rightCols(l) = piece.lines;
    const Vector x = least_squares(W * directions, W * (center - origin));
    const auto share = static_cast<Eigen::Index>(vertices.size() - 1);
    if ((x.head(others).array() < -1e-12).any() || x.head(share).sum() > 1 + 1e-12) continue;
    least = std::min(least, (W * (origin + directions * x - center)).norm());
  }
  return least;
}

Norm random_norm(test::RandomProblems& random, int n, int rows) {
  Norm norm{Matrix(rows, n), Vector(n)};
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < rows; ++i) norm.W(i, j) = random.chance(0.6) ? random.integer(-2, 2) : 0;
    norm.center[j] = random.integer(-8, 8) / 4.0;
  }
  return norm;
}

/// w = (λ1 - 1/4, ...) of independent relays: each has the solutions λ = -1, 1/4, 1.
Mlcp relays(int m) {
  return {.M11 = Matrix(0, 0),
          .M12 = Matrix(0, m),
          .q1 = Vector(0),
          .M21 = Matrix(m, 0),
          .M22 = Matrix::Identity(m, m),
          .q2 = Vector::Constant(m, -0.25),
          .laws = std::vector<Law>(static_cast<std::size_t>(m), sign())};
}

}  // namespace

TEST_SUITE("lcp/nearest") {
  TEST_CASE("the nearest point of a continuum satisfies its equations to the rounding of its own coordinates, however far its vertices are") {
    // u = h (1/1000 + λ) k, λ ∈ sign(0): nearest to 0 is u = 0, λ = -1/1000.
    for (const double k : {1.0, 1e-6, 9582.865706909579, 0x1p40}) {
      const Mlcp problem{.M11 = Matrix::Identity(1, 1), .M12 = Matrix::Constant(1, 1, -k), .q1 = Vector::Constant(1, -k * 1e-3),
                         .M21 = Matrix::Zero(1, 1), .M22 = Matrix::Zero(1, 1), .q2 = Vector::Zero(1), .laws = {sign()}};
      const Nearest found = nearest(problem, enumerate(problem), {Matrix{{1, 0}}, Vector::Zero(2)});
      REQUIRE(found.status == Status::solved);
      CHECK(misfit(problem, found.minimisers[0].u, found.minimisers[0].lambda) <= misfit_limit);
      CHECK(std::abs(found.minimisers[0].u[0]) <= 1e-18 * k);
      CHECK(found.minimisers[0].lambda[0] == doctest::Approx(-1e-3).epsilon(1e-14));
    }
  }

  TEST_CASE("continua between numbers of any size: the nearest point is exact") {
    // u = 2^62 λ1 + 2^22 λ2 with λ1 ∈ [-1, 1], λ2 ∈ [1, 2^31 + 1], both without an argument.
    const Mlcp problem{.M11 = Matrix::Identity(1, 1), .M12 = Matrix{{-0x1p62, -0x1p22}}, .q1 = Vector::Zero(1),
                       .M21 = Matrix::Zero(2, 1), .M22 = Matrix::Zero(2, 2), .q2 = Vector::Zero(2),
                       .laws = {sign(), relay(1, 0x1p31 + 1)}};
    const Nearest found = nearest(problem, enumerate(problem), {Matrix{{1, 0, 0}}, Vector::Zero(3)});
    REQUIRE(found.status == Status::solved);
    CHECK(found.norm == 0);
    CHECK(found.minimisers[0].u[0] == 0);
    CHECK(found.minimisers[0].lambda == Vector{{-0x1p-40, 1}});  // of all with u = 0 of least norm

    // The nearest point lies far out: x = (x0, x1) with E x = 0 for a singular E, and A x = -b.
    const Mlcp far{.M11 = Matrix{{0x1p-40, 0x1p16}, {0, 0x1p-60}}, .M12 = Matrix::Zero(2, 1), .q1 = Vector{{0, -0x1p-4}},
                   .M21 = Matrix::Zero(1, 2), .M22 = Matrix::Zero(1, 1), .q2 = Vector::Zero(1), .laws = {sign()}};
    const Nearest out = nearest(far, enumerate(far), {Matrix{{1, 0x1p56, 0}}, Vector::Zero(3)});
    REQUIRE(out.status == Status::solved);
    CHECK(out.norm == 0);
    CHECK(out.minimisers[0].u == Vector{{-0x1p112, 0x1p56}});
  }

  TEST_CASE("where no double holds the norm of any solution nothing is solved") {
    const Mlcp problem{.M11 = Matrix{{1}}, .M12 = Matrix::Zero(1, 1), .q1 = Vector{{-1e200}},
                       .M21 = Matrix::Zero(1, 1), .M22 = Matrix::Identity(1, 1), .q2 = Vector::Zero(1), .laws = {complementarity()}};
    const Nearest found = nearest(problem, enumerate(problem), {Matrix{{1e200, 0}}, Vector::Zero(2)});
    CHECK(found.status == Status::not_solved);
    CHECK(found.minimisers.empty());
  }

  TEST_CASE("other units, by powers of two: the same norm, to the bit") {
    test::RandomProblems random(33);
    int continua = 0;
    for (int k = 0; k < 400; ++k) {
      const Mlcp problem = random.make(k % 2 == 0 ? "mixed" : "degenerate");
      const int p = problem.p(), m = problem.m();
      const Norm norm = random_norm(random, p + m, random.integer(1, 2));
      const auto powers = [&](int size) {
        Vector result(size);
        for (double& value : result) value = std::ldexp(1.0, random.integer(-40, 40));
        return result;
      };
      const Scaling units{powers(p), powers(p), powers(m), powers(m)};
      Vector unit(p + m);
      unit << units.u_scale, units.lambda_scale;
      const Mlcp other = scaled(problem, units);
      const SolutionSet set = enumerate(problem);
      const std::vector<Piece> all = pieces(set, 1);
      const Nearest found = nearest(problem, set, norm);
      const Nearest in_units = nearest(
          other, enumerate(other), {norm.W * unit.asDiagonal(), norm.center.cwiseQuotient(unit)});
      CAPTURE(k);
      REQUIRE(found.status == in_units.status);
      if (found.status != Status::solved) continue;
      CHECK(found.norm == in_units.norm);
      continua += !all.empty() && all[0].dimension > 0 ? 1 : 0;
    }
    CHECK(continua > 100);
  }

  TEST_CASE("minimal norm and all minimisers of every reference problem to 1e-12") {
    for (const auto& reference : test::reference_problems()) {
      CAPTURE(reference.name);
      const SolutionSet set = enumerate(reference.problem);
      const Nearest found = nearest(reference.problem, set, reference.norm);
      if (!reference.solvable) {
        CHECK(found.status == Status::no_solution);
        CHECK(found.minimisers.empty());
        continue;
      }
      REQUIRE(found.status == Status::solved);
      const double value = reference.minimal_squared_norm;
      CHECK(std::abs(found.norm * found.norm - value) <= 1e-12 * std::max(1.0, value));
      std::vector<Vector> points;  // in the coordinates of the norm, repeated ones once
      for (const Solution& solution : found.minimisers) {
        CHECK(solution.residual <= solution_tolerance);
        Vector y(solution.u.size() + solution.lambda.size());
        y << solution.u, solution.lambda;
        const Vector point = y(reference.norm_indices);
        if (std::none_of(points.begin(), points.end(), [&](const Vector& other) {
              return (other - point).norm() <= 1e-9 * std::max(1.0, point.norm());
            }))
          points.push_back(point);
      }
      REQUIRE(points.size() == reference.minimisers.size());
      for (const Vector& wanted : reference.minimisers)
        CHECK(std::any_of(points.begin(), points.end(), [&](const Vector& point) {
          return (point - wanted).cwiseAbs().maxCoeff() <=
                 1e-12 * std::max(1.0, wanted.cwiseAbs().maxCoeff());
        }));
    }
  }

  TEST_CASE("the least norm over random pieces is that of the best subset of generators") {
    test::RandomProblems random(31);
    int continua = 0;
    for (int k = 0; k < 1500; ++k) {
      const auto& family = test::RandomProblems::families()[static_cast<std::size_t>(k) % 5];
      const Mlcp problem = random.make(family);
      const int n = problem.p() + problem.m();
      const Norm norm = random_norm(random, n, random.integer(1, 3));
      CAPTURE(k);
      CAPTURE(family);
      const SolutionSet set = enumerate(problem);
      double least = inf;
      bool feasible = true;
      for (const Piece& piece : pieces(set, 10'000)) {
        feasible = feasible && piece.vertices.cols() + piece.rays.cols() <= 12;
        if (!feasible) break;
        least = std::min(least, brute_force(piece, norm.W, norm.center));
        if (piece.dimension > 0) ++continua;
      }
      if (!feasible) continue;
      const Nearest found = nearest(problem, set, norm);
      if (least == inf) {
        CHECK(found.status == Status::no_solution);
        continue;
      }
      REQUIRE(found.status == Status::solved);
      CHECK(std::abs(found.norm - least) <= 1e-9 * std::max(1.0, least));
      for (const Solution& solution : found.minimisers) {
        CHECK(residual(problem, solution.u, solution.lambda) <= solution_tolerance);
        CHECK(std::abs((norm.W * (together(solution) - norm.center)).norm() - found.norm) <=
              1e-10 * std::max(1.0, least));
      }
    }
    CHECK(continua > 300);
  }

  TEST_CASE("what the norm leaves free is nearest in u, then of least lambda") {
    test::RandomProblems random(32);
    int compared = 0;
    for (int k = 0; k < 600; ++k) {
      const Mlcp problem = random.make(k % 2 == 0 ? "mixed" : "degenerate");
      const int p = problem.p(), n = p + problem.m();
      Norm norm = random_norm(random, n, 1);
      norm.center.tail(n - p).setZero();
      const SolutionSet set = enumerate(problem);
      const std::vector<Piece> all = pieces(set, 100);
      if (all.size() != 1 || all[0].vertices.cols() + all[0].rays.cols() > 10) continue;
      CAPTURE(k);
      // small weights on u, much smaller ones on λ: the same order of preference up to O(ε²)
      const double epsilon = 1e-4;
      Matrix W(1 + n, n);
      W << norm.W, Matrix::Identity(n, n);
      W.middleRows(1, p) *= epsilon;
      W.bottomRows(n - p) *= epsilon * epsilon;
      bool overflow = false;
      const ExactNearest regularised = exact_nearest(
          exact_generators(AlgebraicProblem<Rational>(problem), all[0].modes[0], overflow),
          ExactNorm::of(W, norm.center));
      const Nearest found = nearest(problem, set, norm);
      REQUIRE(found.status == Status::solved);
      const Vector y = together(found.minimisers[0]);
      const double size = std::max(1.0, y.cwiseAbs().maxCoeff());
      for (Eigen::Index j = 0; j < y.size(); ++j)
        CHECK(std::abs(y[j] - to_double(regularised.y[static_cast<std::size_t>(j)])) <= 1e-4 * size);
      ++compared;
    }
    CHECK(compared > 100);
  }

  TEST_CASE("ties: the present mode first, then the smallest mode") {
    const Mlcp problem = relays(2);
    const SolutionSet set = enumerate(problem);
    REQUIRE(count(set) == 9);
    const Norm norm{Matrix::Identity(2, 2),
                    Vector{{0.625, -0.375}}};  // half way between 1/4 and ±1
    const Nearest free_choice = nearest(problem, set, norm);
    REQUIRE(free_choice.minimisers.size() == 4);
    CHECK(free_choice.minimisers[0].mode == Mode{1, 0});
    CHECK(free_choice.minimisers[0].lambda == Vector{{0.25, -1}});
    const Mode present{2, 1};
    const Nearest kept = nearest(problem, set, norm, &present);
    REQUIRE(kept.minimisers.size() == 4);
    CHECK(kept.minimisers[0].mode == present);
    CHECK(kept.minimisers[0].lambda == Vector{{1, 0.25}});
    CHECK(kept.norm == free_choice.norm);
  }

  TEST_CASE("the present mode is found where it is not the smallest of its piece") {
    // w = λ: the solution λ = w = 0 lies on both branches
    const Mlcp problem{.M11 = Matrix(0, 0),
                       .M12 = Matrix(0, 1),
                       .q1 = Vector(0),
                       .M21 = Matrix(1, 0),
                       .M22 = Matrix{{1}},
                       .q2 = Vector{{0}},
                       .laws = {complementarity()}};
    const SolutionSet set = enumerate(problem);
    const Norm norm{Matrix{{1}}, Vector{{3}}};
    const Mode present{1};
    CHECK(nearest(problem, set, norm).minimisers[0].mode == Mode{0});
    CHECK(nearest(problem, set, norm, &present).minimisers[0].mode == present);
  }

  TEST_CASE("a solution beside the present mode by more than its rounding, however little, is in its own mode") {
    // w = u = λ + 5e-11: only λ = 0, w > 0
    const Mlcp problem{.M11 = Matrix{{1}},
                       .M12 = Matrix{{-1}},
                       .q1 = Vector{{-5e-11}},
                       .M21 = Matrix{{1}},
                       .M22 = Matrix{{0}},
                       .q2 = Vector{{0}},
                       .laws = {complementarity()}};
    const Mode present{1};
    const Nearest found = nearest(problem, enumerate(problem), {Matrix{{1, 0}}, Vector{{0, 0}}}, &present);
    REQUIRE(found.status == Status::solved);
    CHECK(found.minimisers[0].mode == Mode{0});
  }

  TEST_CASE("independent blocks add up by squares, whatever their number") {
    const int m = 60;
    const Mlcp problem = relays(m);
    const SolutionSet set = enumerate(problem);
    Norm norm{2 * Matrix::Identity(m, m), Vector::Constant(m, 0.5)};
    const Nearest found = nearest(problem, set, norm);
    REQUIRE(found.status == Status::solved);
    CHECK(found.norm == doctest::Approx(std::sqrt(m * 0.25)).epsilon(1e-14));
    CHECK(found.minimisers.size() == 1);
    CHECK(found.minimisers[0].lambda == Vector::Constant(m, 0.25));
  }

  TEST_CASE(
      "a norm that couples blocks is minimised over their combinations, or says that it cannot") {
    const Mlcp problem = relays(3);
    const SolutionSet set = enumerate(problem);
    const Norm sum{Matrix{{1, 1, 1}}, Vector{{1, 0.5, 0}}};  // |λ1 + λ2 + λ3 - 1.5|
    const Nearest found = nearest(problem, set, sum);
    REQUIRE(found.status == Status::solved);
    CHECK(found.norm == 0);  // 1/4 + 1/4 + 1
    CHECK(found.minimisers.size() == 3);
    const int many = 14;
    const Mlcp large = relays(many);
    const Nearest refused =
        nearest(large, enumerate(large), {Matrix::Ones(1, many), Vector::Zero(many)});
    CHECK(refused.status == Status::not_enumerated);
    CHECK(refused.message.find("14 blocks") != std::string::npos);
  }

  TEST_CASE("wrong shapes are refused") {
    const Mlcp problem = relays(2);
    const SolutionSet set = enumerate(problem);
    CHECK_THROWS_AS(nearest(problem, set, {Matrix::Ones(1, 3), Vector::Zero(2)}), InvalidInput);
    CHECK_THROWS_AS(nearest(problem, set, {Matrix::Ones(1, 2), Vector::Zero(1)}), InvalidInput);
    const Mode wrong{0, 3};
    CHECK_THROWS_AS(nearest(problem, set, {Matrix::Ones(1, 2), Vector::Zero(2)}, &wrong),
                    InvalidInput);
    CHECK_THROWS_AS(nearest(relays(3), set, {Matrix::Ones(1, 3), Vector::Zero(3)}), InvalidInput);
  }
}

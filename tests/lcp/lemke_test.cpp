#include <doctest/doctest.h>

#include <random>

#include <perp/lcp/solver.hpp>

#include <perp/tests/lcp/random_problems.hpp>

using namespace perp;

namespace {

SolveResult lemke(const Mlcp& problem, const SolveOptions& options = {}) {
  return solve(solver("lemke"), problem, options);
}

/// Random dense data, normally distributed; laws all the same.
class Gaussian {
 public:
  explicit Gaussian(unsigned seed) : engine_(seed) {}

  Matrix matrix(int rows, int columns) {
    Matrix result(rows, columns);
    for (double& entry : result.reshaped()) entry = normal_(engine_);
    return result;
  }
  Mlcp problem(int p, const Matrix& M22, const Law& law) {
    const int m = static_cast<int>(M22.rows());
    return {.M11 = matrix(p, p),
            .M12 = matrix(p, m),
            .q1 = matrix(p, 1),
            .M21 = matrix(m, p),
            .M22 = M22,
            .q2 = matrix(m, 1),
            .laws = std::vector<Law>(static_cast<std::size_t>(m), law)};
  }
  /// Positive definite, not symmetric.
  Matrix definite(int m) {
    const Matrix A = matrix(m, m), B = matrix(m, m);
    return A * A.transpose() / m + 0.05 * Matrix::Identity(m, m) + B - B.transpose();
  }

 private:
  std::mt19937 engine_;
  std::normal_distribution<double> normal_;
};

Mlcp pure(const Matrix& M22, const Vector& q2, const Law& law) {
  const auto m = M22.rows();
  return {.M11 = Matrix(0, 0),
          .M12 = Matrix(0, m),
          .q1 = Vector(0),
          .M21 = Matrix(m, 0),
          .M22 = M22,
          .q2 = q2,
          .laws = std::vector<Law>(static_cast<std::size_t>(m), law)};
}

/// Solved, and the residual is at rounding level.
void check_solved(const SolveResult& result) {
  CHECK(result.status == Status::solved);
  CHECK(result.message == "");
  CHECK(result.solution.residual <= 1e-13);
}

}  // namespace

TEST_SUITE("lcp/lemke") {
  TEST_CASE("an empty problem is solved") {
    check_solved(lemke(pure(Matrix(0, 0), Vector(0), sign())));
  }

  TEST_CASE("equations alone are solved") {
    const Mlcp problem{.M11 = Matrix{{2, 1}, {0, 4}},
                       .M12 = Matrix(2, 0),
                       .q1 = Vector{{-4, -8}},
                       .M21 = Matrix(0, 2),
                       .M22 = Matrix(0, 0),
                       .q2 = Vector(0),
                       .laws = {}};
    const SolveResult result = lemke(problem);
    check_solved(result);
    CHECK(result.solution.u.isApprox(Vector{{1, 2}}, 1e-15));
  }

  TEST_CASE("w = q is found without a pivot where q is not negative") {
    const SolveResult result =
        lemke(pure(Matrix{{-1, 2}, {3, -4}}, Vector{{0, 5}}, complementarity()));
    check_solved(result);
    CHECK(result.iterations == 0);
    CHECK(result.solution.lambda.isZero(0));
    CHECK(result.solution.mode == Mode{0, 0});
  }

  TEST_CASE("every complementarity problem with a positive definite matrix is solved") {
    Gaussian random(1);
    for (const int m : {1, 2, 3, 5, 8, 20, 60})
      for (int k = 0; k < (m > 10 ? 5 : 60); ++k) {
        CAPTURE(m);
        CAPTURE(k);
        check_solved(lemke(random.problem(0, random.definite(m), complementarity())));
      }
  }

  TEST_CASE("every complementarity problem with a P-matrix is solved") {
    // Products of a positive diagonal and a matrix dominated by its diagonal, far from symmetric.
    Gaussian random(2);
    for (int k = 0; k < 300; ++k) {
      const int m = 1 + k % 10;
      Matrix M = random.matrix(m, m);
      M.diagonal().setZero();
      M.diagonal() = M.cwiseAbs().rowwise().sum() + Vector::Constant(m, 0.01);
      const Vector d = random.matrix(m, 1).array().exp();
      CAPTURE(k);
      check_solved(lemke(random.problem(0, M * d.asDiagonal(), complementarity())));
    }
  }

  TEST_CASE("every problem whose boxes are all finite is solved, whatever its matrix") {
    Gaussian random(3);
    test::RandomProblems degenerate(3);
    for (int k = 0; k < 400; ++k) {
      const int m = 1 + k % 12;
      CAPTURE(k);
      check_solved(lemke(random.problem(0, random.matrix(m, m), sign())));
      Mlcp integers = degenerate.dense(0, 1 + k % 6, 2, 0.6);
      for (Law& law : integers.laws) {
        const int lower = degenerate.integer(-2, 1);
        law = box(lower, lower + degenerate.integer(0, 2));
      }
      check_solved(lemke(integers));
    }
  }

  TEST_CASE("free unknowns with a regular block of equations change nothing of that") {
    Gaussian random(4);
    for (int k = 0; k < 200; ++k) {
      CAPTURE(k);
      check_solved(lemke(random.problem(1 + k % 5, random.matrix(1 + k % 7, 1 + k % 7), sign())));
    }
  }

  TEST_CASE("slopes below one make saturation, dead zone and |w| + sign(w) solvable") {
    // |M| < 1 in the row sum norm: w = M λ(w) + q is a contraction, or has a fixed point.
    Gaussian random(5);
    for (const Law& law : {saturation(-1, 1), dead_zone(-0.5, 1), absolute(), abs_plus_sign()})
      for (int k = 0; k < 60; ++k) {
        Matrix M = random.matrix(1 + k % 8, 1 + k % 8);
        M *= 0.9 / M.cwiseAbs().rowwise().sum().maxCoeff();
        CAPTURE(law.name);
        CAPTURE(k);
        check_solved(lemke(random.problem(0, M, law)));
      }
  }

  TEST_CASE("ties do not make it cycle") {
    for (const int m : {2, 5, 9}) {
      // all rows equal, then all data equal
      check_solved(lemke(pure(Matrix::Ones(m, m), -Vector::Ones(m), complementarity())));
      check_solved(lemke(pure(Matrix::Ones(m, m), Vector::Zero(m), sign())));
      Matrix cyclic = Matrix::Identity(m, m);
      for (int i = 0; i < m; ++i) cyclic(i, (i + 1) % m) = 2;
      check_solved(lemke(pure(cyclic, -Vector::Ones(m), complementarity())));
    }
  }

  TEST_CASE("the limit of pivots is kept and reported") {
    Gaussian random(9);
    const Mlcp problem = random.problem(0, random.matrix(20, 20), sign());
    const SolveResult result = lemke(problem);
    check_solved(result);
    REQUIRE(result.iterations > 10);
    const SolveResult stopped = lemke(problem, {.max_iterations = 10});
    CHECK(stopped.status == Status::not_solved);
    CHECK(stopped.iterations == 10);
    CHECK(stopped.message.find("limit of pivots") != std::string::npos);
  }

  TEST_CASE("a singular block of equations is pivoted together with a pair") {
    // 0 = λ - 1,  w = u - 3: u is determined through the pair only.
    const Mlcp problem{.M11 = Matrix{{0}},
                       .M12 = Matrix{{1}},
                       .q1 = Vector{{-1}},
                       .M21 = Matrix{{1}},
                       .M22 = Matrix{{0}},
                       .q2 = Vector{{-3}},
                       .laws = {complementarity()}};
    const SolveResult result = lemke(problem);
    check_solved(result);
    CHECK(result.solution.u[0] == doctest::Approx(3));
    CHECK(result.solution.lambda[0] == doctest::Approx(1));
  }

  TEST_CASE("a redundant equation leaves its unknown at zero") {
    const Mlcp problem{.M11 = Matrix{{1, 1}, {2, 2}},
                       .M12 = Matrix{{0}, {0}},
                       .q1 = Vector{{-1, -2}},
                       .M21 = Matrix{{1, 1}},
                       .M22 = Matrix{{1}},
                       .q2 = Vector{{-2}},
                       .laws = {complementarity()}};
    check_solved(lemke(problem));
  }

  TEST_CASE("contradictory equations and infeasible problems are given up, not called unsolvable") {
    const Mlcp contradiction{.M11 = Matrix{{1, 1}, {2, 2}},
                             .M12 = Matrix(2, 0),
                             .q1 = Vector{{-1, -3}},
                             .M21 = Matrix(0, 2),
                             .M22 = Matrix(0, 0),
                             .q2 = Vector(0),
                             .laws = {}};
    CHECK(lemke(contradiction).status == Status::not_solved);
    const SolveResult infeasible = lemke(pure(Matrix{{0}}, Vector{{-1}}, complementarity()));
    CHECK(infeasible.status == Status::not_solved);
    CHECK(infeasible.message.find("ray") != std::string::npos);
  }

  TEST_CASE("a law without complementarity form is not supported, with the reason") {
    const SolveResult result = lemke(pure(Matrix{{1}}, Vector{{0}}, hysteresis(-1, 1)));
    CHECK(result.status == Status::not_supported);
    CHECK(result.message.find("hysteresis") != std::string::npos);
  }

  TEST_CASE("started in the mode of the solution it needs no pivot") {
    Gaussian random(6);
    for (int k = 0; k < 60; ++k) {
      const Mlcp problem = random.problem(k % 3, random.matrix(1 + k % 9, 1 + k % 9),
                                          k % 2 == 0 ? sign() : box(-1, 2));
      const SolveResult cold = lemke(problem);
      const SolveResult warm = lemke(problem, {.present = &cold.solution.mode});
      CAPTURE(k);
      check_solved(warm);
      CHECK(warm.iterations == 0);
      CHECK((warm.solution.lambda - cold.solution.lambda).norm() <= 1e-9);
      CHECK(warm.solution.mode == cold.solution.mode);
    }
  }

  TEST_CASE("units of rows and unknowns do not matter") {
    Gaussian random(7);
    test::RandomProblems units(7);
    for (int k = 0; k < 60; ++k) {
      Mlcp problem = random.problem(k % 3, random.matrix(1 + k % 6, 1 + k % 6), sign());
      units.change_units(problem, 25);
      CAPTURE(k);
      check_solved(lemke(problem));
    }
  }

  TEST_CASE("the same problem gives the same bits") {
    Gaussian random(8);
    const Mlcp problem = random.problem(2, random.matrix(9, 9), sign());
    const SolveResult first = lemke(problem), second = lemke(problem);
    CHECK(first.solution.lambda == second.solution.lambda);
    CHECK(first.solution.u == second.solution.u);
    CHECK(first.iterations == second.iterations);
  }
}

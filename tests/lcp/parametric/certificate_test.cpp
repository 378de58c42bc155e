#include <doctest/doctest.h>
#include <cmath>
#include <random>

#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/parametric/certificate.hpp>

using namespace perp;

TEST_SUITE("lcp/certificate") {
  TEST_CASE("the graphs of the named laws run as their formulas say") {
    CHECK(monotonicity(complementarity()) == Monotonicity::falling);
    CHECK(monotonicity(box(-1, 2)) == Monotonicity::falling);
    CHECK(monotonicity(sign()) == Monotonicity::rising);
    CHECK(monotonicity(saturation(-1, 1)) == Monotonicity::rising);
    CHECK(monotonicity(dead_zone(-1, 1)) == Monotonicity::rising);
    CHECK(monotonicity(normal_cone(0, inf)) == Monotonicity::rising);
    CHECK(monotonicity(absolute()) == Monotonicity::neither);
    CHECK(monotonicity(abs_plus_sign()) == Monotonicity::neither);
    CHECK(monotonicity(hysteresis(-1, 1)) == Monotonicity::neither);
  }

  TEST_CASE("a certified problem has one solution for every right-hand side tried") {
    std::mt19937 random(5);
    std::normal_distribution<double> normal;
    int certified = 0;
    for (int trial = 0; trial < 400; ++trial) {
      const int p = trial % 3, m = 1 + trial % 4;
      const auto matrix = [&](int rows, int columns) {
        Matrix M(rows, columns);
        for (int i = 0; i < rows; ++i)
          for (int j = 0; j < columns; ++j) M(i, j) = normal(random);
        return M;
      };
      Mlcp problem{
          matrix(p, p), matrix(p, m), matrix(p, 1), matrix(m, p), matrix(m, m), matrix(m, 1), {}};
      problem.M22 += 2 * Matrix::Identity(m, m);
      for (int i = 0; i < m; ++i) {
        const bool rising = (trial + i) % 2 == 0;
        problem.laws.push_back(rising ? sign() : complementarity());
        if (rising) {
          problem.M21.row(i) *= -1;
          problem.M22.row(i) *= -1;
        }
      }
      if (!has_at_most_one_solution(problem)) continue;
      ++certified;
      CHECK(multiplicity(enumerate(problem)) == Multiplicity::unique);
    }
    CHECK(certified > 100);
  }

  TEST_CASE("nothing is claimed where it is not so") {
    Mlcp problem{{},           Matrix(0, 1), Vector(0),          Matrix(1, 0),
                 Matrix{{-1}}, Vector{{1}},  {complementarity()}};
    problem.M11 = Matrix(0, 0);
    CHECK_FALSE(has_at_most_one_solution(problem));  // λ = 0 and λ = 1
    CHECK(count(enumerate(problem)) == 2);
    problem.M22(0, 0) = 1;
    CHECK(has_at_most_one_solution(problem));
    problem.laws = {sign()};
    CHECK_FALSE(has_at_most_one_solution(problem));
  }

  // [[1, 1 - e], [1 - e, 1]] has the least eigenvalue e.
  TEST_CASE("without laws a regular matrix is certified and a singular one is not") {
    const auto problem = [](const Matrix& M) {
      const Eigen::Index p = M.rows();
      return Mlcp{M, Matrix::Zero(p, 0), Matrix::Zero(p, 1), Matrix::Zero(0, p), Matrix::Zero(0, 0), Matrix::Zero(0, 1), {}};
    };
    CHECK(has_at_most_one_solution(problem(Matrix::Identity(2, 2))));
    CHECK_FALSE(has_at_most_one_solution(problem(Matrix::Zero(1, 1))));
    CHECK_FALSE(has_at_most_one_solution(problem(Matrix::Ones(2, 2))));
  }

  TEST_CASE("what is definite beyond its rounding is certified, what may not be is not") {
    const auto near_singular = [](double e) {
      return Mlcp{Matrix(0, 0), Matrix(0, 2), Vector(0), Matrix(2, 0),
                  Matrix{{1, 1 - e}, {1 - e, 1}}, Vector{{1, -1}},
                  {complementarity(), complementarity()}};
    };
    for (int k = 1; k <= 45; ++k)
      CHECK(has_at_most_one_solution(near_singular(std::ldexp(1.0, -k))));
    CHECK_FALSE(has_at_most_one_solution(near_singular(0)));
    CHECK_FALSE(has_at_most_one_solution(near_singular(-0x1p-52)));
  }
}

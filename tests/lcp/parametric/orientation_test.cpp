#include <doctest/doctest.h>
#include <algorithm>
#include <Eigen/LU>
#include <random>

#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/parametric/curve.hpp>
#include <perp/lcp/parametric/orientation.hpp>

using namespace perp;
using Verdict = UniqueSolvability::Verdict;

namespace {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  Matrix matrix(int rows, int columns) {
    Matrix M(rows, columns);
    for (double& entry : M.reshaped()) entry = normal_(engine_);
    return M;
  }
  Vector vector(int size) { return matrix(size, 1); }

 private:
  std::mt19937 engine_;
  std::normal_distribution<double> normal_;
};

Mlcp problem_of(Random& random, int p, std::vector<Law> laws) {
  const int m = static_cast<int>(laws.size());
  Matrix M22 = random.matrix(m, m);
  for (int i = 0; i < m; ++i) M22(i, i) += (i % 2 == 0 ? 1 : -1) * 2.0;
  return {.M11 = random.matrix(p, p),
          .M12 = random.matrix(p, m),
          .q1 = random.vector(p),
          .M21 = random.matrix(m, p),
          .M22 = M22,
          .q2 = random.vector(m),
          .laws = std::move(laws)};
}

bool is_P_matrix(const Matrix& M) {
  const auto m = static_cast<unsigned>(M.rows());
  for (unsigned set = 1; set < (1U << m); ++set) {
    std::vector<int> rows;
    for (unsigned i = 0; i < m; ++i)
      if ((set >> i & 1U) != 0) rows.push_back(static_cast<int>(i));
    if (!(Matrix(M(rows, rows)).determinant() > 0)) return false;
  }
  return true;
}

/// A point of the curve: within the k-th branch, or by `offset` along it from its end.
CurvePoint within(const Curve& curve, std::size_t k, double from_end = 0.5) {
  const CurvePoint& d = curve.directions[k];
  if (k < curve.corners.size() && k + 1 < curve.order.size()) {
    const double way = std::min(from_end, curve.lengths[k] / 2);
    return {curve.corners[k].w - way * d.w, curve.corners[k].lambda - way * d.lambda};
  }
  const CurvePoint& corner = curve.corners.back();
  return {corner.w + d.w, corner.lambda + d.lambda};
}

}  // namespace

TEST_SUITE("lcp/orientation") {
  TEST_CASE("a linear complementarity problem is unique exactly for P-matrices") {
    Random random(1);
    int unique = 0;
    for (int trial = 0; trial < 600; ++trial) {
      const int m = 1 + trial % 4, p = trial % 3;
      Mlcp problem =
          problem_of(random, p, std::vector<Law>(static_cast<std::size_t>(m), complementarity()));
      problem.M22.diagonal().array() += trial % 5;
      const Matrix M =
          p == 0 ? problem.M22
                 : Matrix(problem.M22 - problem.M21 * problem.M11.inverse() * problem.M12);
      const UniqueSolvability found = unique_solvability(problem);
      CAPTURE(trial);
      CHECK(found.is_unique() == is_P_matrix(M));
      unique += found.is_unique() ? 1 : 0;
    }
    CHECK(unique > 60);
    CHECK(unique < 540);
  }

  TEST_CASE("unique: one solution for every q tried; fold: two at its corner") {
    Random random(2);
    int unique = 0, folds = 0;
    const std::vector<Law> kinds{
        sign(),           abs_plus_sign(), complementarity(), saturation(-1, 1),
        dead_zone(-1, 2), absolute(),      box(-1, 1)};
    for (int trial = 0; trial < 400; ++trial) {
      std::vector<Law> laws;
      for (int i = 0; i < 1 + trial % 3; ++i)
        laws.push_back(kinds[static_cast<std::size_t>(trial + 2 * i) % kinds.size()]);
      const int m = static_cast<int>(laws.size()), p = trial % 2;
      Mlcp problem = problem_of(random, p, laws);
      const UniqueSolvability found = unique_solvability(problem);
      CAPTURE(trial);
      if (found.verdict == Verdict::unique) {
        ++unique;
        for (int k = 0; k < 10; ++k) {
          problem.q1 = 3 * random.vector(p);
          problem.q2 = 3 * random.vector(m);
          CHECK(count(enumerate(problem)) == 1);
        }
        continue;
      }
      REQUIRE(found.verdict == Verdict::fold);
      ++folds;
      // q for which a point of `mode` near the corner is a solution: there is one beyond it too.
      Vector w(m), lambda(m);
      for (int i = 0; i < m; ++i) {
        const Curve curve = curve_of(laws[static_cast<std::size_t>(i)]);
        const auto place = std::find(curve.order.begin(), curve.order.end(),
                                     found.mode[static_cast<std::size_t>(i)]) -
                           curve.order.begin();
        const CurvePoint point =
            within(curve, static_cast<std::size_t>(place), i == found.law ? 1e-4 : 0.5);
        w[i] = point.w;
        lambda[i] = point.lambda;
      }
      problem.q1 = -problem.M12 * lambda;
      problem.q2 = w - problem.M22 * lambda;
      CHECK(residual(problem, Vector::Zero(p), lambda) < 1e-12);
      CHECK(count(enumerate(problem)) >= 2);
    }
    CHECK(unique > 40);
    CHECK(folds > 40);
  }

  TEST_CASE("the verdict does not change under positive scaling of rows and units") {
    Random random(3);
    for (int trial = 0; trial < 100; ++trial) {
      const int m = 1 + trial % 3;
      const Mlcp problem =
          problem_of(random, 1, std::vector<Law>(static_cast<std::size_t>(m), complementarity()));
      Mlcp other = problem;
      for (int i = 0; i < m; ++i) {
        const double row = std::pow(10.0, (3 * i) % 7 - 3), unit = std::pow(10.0, (5 * i) % 9 - 4);
        other.M21.row(i) *= row;
        other.M22.row(i) *= row;
        other.M12.col(i) *= unit;
        other.M22.col(i) *= unit;
      }
      CHECK(unique_solvability(problem).verdict == unique_solvability(other).verdict);
    }
  }

  TEST_CASE("independent blocks are judged one by one, witnesses are of the whole problem") {
    const int m = 40;
    Mlcp problem{.M11 = Matrix(0, 0),
                 .M12 = Matrix(0, m),
                 .q1 = Vector(0),
                 .M21 = Matrix(m, 0),
                 .M22 = Matrix::Identity(m, m),
                 .q2 = Vector::Zero(m),
                 .laws = std::vector<Law>(m, complementarity())};
    CHECK(unique_solvability(problem).verdict == Verdict::unique);
    problem.M22(30, 30) = -1;
    const UniqueSolvability fold = unique_solvability(problem);
    CHECK(fold.verdict == Verdict::fold);
    CHECK(fold.law == 30);
    CHECK(fold.mode.size() == 40);
    problem.M22(30, 30) = 0;
    const UniqueSolvability singular = unique_solvability(problem);
    CHECK(singular.verdict == Verdict::singular);
    CHECK(singular.mode[30] == 1);  // the branch w = 0
  }

  TEST_CASE("many coupled modes: a definite matrix decides, else nothing is claimed") {
    Random random(4);
    const int m = 12;
    Mlcp problem = problem_of(random, 0, std::vector<Law>(m, complementarity()));
    const Matrix G = problem.M22;
    problem.M22 = G * G.transpose() + Matrix::Identity(m, m);
    CHECK(unique_solvability(problem, 100).verdict == Verdict::monotone);
    CHECK(unique_solvability(problem).verdict == Verdict::unique);
    problem.M22 = G;
    CHECK(unique_solvability(problem, 100).verdict == Verdict::unknown);
  }

  TEST_CASE("a law whose graph has loose ends is named") {
    Random random(5);
    const UniqueSolvability found = unique_solvability(problem_of(random, 0, {hysteresis(0, 1)}));
    CHECK(found.verdict == Verdict::unknown);
    CHECK(found.reason.find("hysteresis") != std::string::npos);
  }
}

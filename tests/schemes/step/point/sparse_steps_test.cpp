#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <perp/core/base/index.hpp>
#include <perp/core/linear/lu.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/step/point/point_step.hpp>

using namespace perp;

namespace {

/// u_i' = Σ_j (u_j - u_i) - 1 + λ_i over random pairs of nodes, 0 <= u_i ⊥ λ_i >= 0: no order of the nodes has narrow bands.
Lcs net(std::mt19937& random, int n) {
  Lcs lcs;
  lcs.E = Matrix::Identity(n, n);
  lcs.A = -Matrix::Identity(n, n);
  for (int k = 0; k < 2 * n; ++k) {
    const int i = static_cast<int>(random() % at(n)), j = static_cast<int>(random() % at(n));
    lcs.A(i, j) += 1, lcs.A(j, i) += 1;
    lcs.A(i, i) -= 1, lcs.A(j, j) -= 1;
  }
  lcs.B = Matrix::Identity(n, n);
  lcs.C = Matrix::Identity(n, n);
  lcs.D = Matrix::Zero(n, n);
  lcs.b = Vector(-Vector::Ones(n));
  lcs.q = Vector(Vector::Zero(n));
  lcs.laws.assign(at(n), complementarity());
  return lcs;
}

/// (E - h A) x⁺ - h B λ = E x + h b with w = x_i = 0 or λ_i = 0: x⁺ and λ.
Vector full_solution(const Lcs& lcs, const Vector& x, double h, const Mode& mode) {
  const int n = static_cast<int>(x.size());
  Matrix K = Matrix::Zero(2 * n, 2 * n);
  K.topLeftCorner(n, n) = lcs.E - h * lcs.A;
  K.topRightCorner(n, n) = -h * lcs.B;
  for (int i = 0; i < n; ++i) K(n + i, complementarity().branches[at(mode[at(i)])].b == 0 ? i : n + i) = 1;
  Vector right = Vector::Zero(2 * n);
  right.head(n) = x - h * Vector::Ones(n);
  return linear::FullLu(K).inverse() * right;
}

}  // namespace

TEST_SUITE("schemes/step/point/sparse_steps") {
  TEST_CASE("steps of a net have the solution of full matrices within the bounds that they give, in each mode, and its side of the laws") {
    std::mt19937 random(3);
    constexpr int n = 130;
    const Lcs lcs = net(random, n);
    StepEquations equations(lcs, 1);
    PointStep step(equations, 0.01);
    REQUIRE(step.is_usable());
    CHECK(step.numbers() < 2 * n * 100);  // of bands they are more
    std::vector<double> parameter(at(equations.parameters()));
    for (int trial = 0; trial < 6; ++trial) {
      CAPTURE(trial);
      const double h = std::ldexp(1.0, -trial);
      Vector x(n);
      for (double& value : x) value = std::uniform_real_distribution<double>(-0.1, 0.5)(random);
      equations.parameter(x, 0, h, parameter.data());
      step.set(h, parameter.data());
      Mode mode(at(n));
      for (int& branch : mode) branch = trial == 0 ? 0 : static_cast<int>(random() % 2);
      const PointStep::Verdict verdict = step.solve(mode);
      const Vector exact = full_solution(lcs, x, h, mode);
      CHECK((step.x() - exact.head(n)).cwiseAbs().maxCoeff() <= 1e-13);
      CHECK(((step.x() - exact.head(n)).array().abs() <= 1e-15 + 100 * step.rounding().array()).all());
      CHECK(step.rounding().maxCoeff() < 1e-5);
      CHECK((step.lambda() - exact.tail(n)).cwiseAbs().maxCoeff() <= 1e-12 / h);
      CHECK((verdict == PointStep::Verdict::outside) == (exact.minCoeff() < -1e-12));
    }
  }

  TEST_CASE("a run of a net comes to rest where its rows and laws hold") {
    std::mt19937 random(5);
    constexpr int n = 130;
    const Lcs lcs = net(random, n);
    const Trajectory run = integrate(lcs, Vector::LinSpaced(n, 0.1, 1), Span{0, 20}, BackwardEuler{.h = 0.25});
    REQUIRE(run.status == Status::solved);
    CHECK(run.x.back().cwiseAbs().maxCoeff() <= 1e-12);  // 0 = -u_i - 1 + λ_i with u = 0
    CHECK(run.x[1].minCoeff() >= 0);
    CHECK(run.x[1].maxCoeff() > 0);
  }
}

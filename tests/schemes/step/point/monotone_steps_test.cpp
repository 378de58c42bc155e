#include <doctest/doctest.h>
#include <cmath>
#include <random>
#include <vector>

#include <perp/schemes/capturing/capturing.hpp>
#include <perp/schemes/step/point/monotone_steps.hpp>

using namespace perp;

namespace {

Matrix random_matrix(std::mt19937& random, int rows, int columns) {
  std::uniform_int_distribution<int> small(-3, 3);
  Matrix M(rows, columns);
  for (double& entry : M.reshaped()) entry = small(random);
  return M;
}

/// B = C', A dissipative and dominant, D = 0: energy with P = I.
Lcs passive(std::mt19937& random, int n, int m) {
  Lcs lcs;
  const Matrix skew = random_matrix(random, n, n);
  lcs.A = skew - skew.transpose() - Matrix::Identity(n, n);
  lcs.C = random_matrix(random, m, n);
  lcs.B = lcs.C.transpose();
  lcs.D = 0.5 * Matrix::Identity(m, m);
  lcs.q = Vector(random_matrix(random, m, 1).col(0));
  lcs.b = Signal(Vector(random_matrix(random, n, 1).col(0)), {0}, [](double t, Vector& b) { b[0] = 20 * std::sin(8 * t); });
  for (int i = 0; i < m; ++i) lcs.laws.push_back(i % 2 == 0 ? complementarity() : normal_cone(-2, 1));
  return lcs;
}

}  // namespace

TEST_SUITE("schemes/step/point/monotone_steps") {
  TEST_CASE("a step that is certified not to jump moves a consistent state by no more than h |A x + B lambda + b|, whatever its mode") {
    std::mt19937 random(41);
    int steps = 0, changes = 0;
    for (int trial = 0; trial < 60; ++trial) {
      CAPTURE(trial);
      Lcs lcs = passive(random, 1 + trial % 4, 1 + trial % 3);
      for (int i = 1; i < lcs.C.rows(); i += 2) {  // a rising law: P B = -C'
        lcs.B.col(i) *= -1;
      }
      const double h = 0.05, theta = trial % 2 == 0 ? 1 : 0.75;
      Capturing scheme(validated(lcs), Theta{.h = h, .theta = theta});
      std::vector<Event> events;
      if (scheme.start(0, Vector::Zero(lcs.A.rows()), h, events).status != Status::solved) continue;
      if (!scheme.moves_with_length(h)) continue;
      for (int k = 0; k < 40; ++k) {
        const Step before = scheme.snapshot();
        for (const double length : {h, h / 16, h / 4096}) {
          const double t = before.t + length;
          const Attempt attempt = scheme.attempt(t, length);
          REQUIRE(attempt.status == Status::solved);
          // b as the step has it: the mean of theta
          const Vector b = theta * lcs.b(t) + (1 - theta) * lcs.b(before.t);
          const Vector rate = lcs.A * before.x + lcs.B * before.lambda + b;
          CHECK((scheme.attempted() - before.x).norm() <= length * rate.norm() * (1 + 1e-9) + 1e-14);
          changes += !attempt.kept_mode;
          ++steps;
        }
        REQUIRE(scheme.attempt(before.t + h, h).status == Status::solved);
        scheme.accept();
      }
    }
    CHECK(steps > 2000);
    CHECK(changes > 50);
  }

  TEST_CASE("what an equation without a rate, a moving law or a law of another part's variables leaves open may jump") {
    const Lcs circuit = validated(Lcs{.A = Matrix{{-1, 0}, {0, -1}}, .B = Matrix{{1}, {0}}, .C = Matrix{{1, 0}}, .laws = {complementarity()}});
    CHECK(MonotoneSteps(StepEquations(circuit, 1)).is_continuous());
    Lcs algebraic = circuit;
    algebraic.E = Matrix{{1, 0}, {0, 0}};
    CHECK_FALSE(MonotoneSteps(StepEquations(algebraic, 1)).is_continuous());
    Lcs moving = circuit;
    moving.q = Signal(Vector::Zero(1), {0}, [](double t, Vector& q) { q[0] = t < 1 ? 0 : -1; });
    CHECK_FALSE(MonotoneSteps(StepEquations(moving, 1)).is_continuous());
    Lcs other = circuit;
    other.C = Matrix{{1, 1}};  // x2 is the other part
    CHECK_FALSE(MonotoneSteps(StepEquations(other, 1)).is_continuous());
    Lcs coupled = circuit;
    coupled.E = Matrix{{1, 0.25}, {0, 1}};
    CHECK_FALSE(MonotoneSteps(StepEquations(coupled, 1)).is_continuous());
  }
}

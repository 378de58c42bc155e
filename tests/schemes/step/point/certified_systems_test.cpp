#include <doctest/doctest.h>
#include <algorithm>
#include <cstdlib>
#include <random>
#include <vector>

#include <perp/lcp/parametric/mode_cache.hpp>
#include <perp/schemes/step/point/monotone_steps.hpp>
#include <perp/tests/schemes/step/point/random_systems.hpp>

using namespace perp;
using perp::test::turn_rising_laws;
using perp::test::with_names;

namespace {

/// 0, mostly, or a small whole number.
double small(std::mt19937& random) { return random() % 3 == 0 ? static_cast<int>(random() % 5) - 2.0 : 0.0; }
double sign_of(std::mt19937& random) { return random() % 2 == 0 ? 1.0 : -1.0; }

/// A law of a velocity, of a position or of both, which acts on one velocity or on two, mostly as an energy has it.
void add_law(Lcs& lcs, int j, int velocities, int positions, std::mt19937& random) {
  const auto i = static_cast<int>(random() % velocities);
  const double side = sign_of(random);
  const auto read = [&](int variable) { lcs.C(j, variable) = random() % 4 == 0 ? -side : side; };
  lcs.B(i, j) = side * (1.0 + random() % 2);
  const auto kind = random() % 3;
  if (kind != 0 || positions == 0) read(i);
  if (kind != 1 && positions > 0) read(velocities + (i < positions ? i : static_cast<int>(random() % positions)));
  if (random() % 4 == 0) {
    const auto k = static_cast<int>(random() % velocities);
    lcs.C(j, k) = lcs.B(k, j) += small(random);
  }
  const Law kinds[] = {complementarity(), sign(), complementarity(), normal_cone(-1, 2)};
  lcs.laws.push_back(kinds[random() % 4]);
}

/// Velocities, positions and laws that nearly have an energy, or have one.
Lcs nearly_mechanical(std::mt19937& random) {
  const auto velocities = static_cast<int>(1 + random() % 3), positions = static_cast<int>(random() % (velocities + 1));
  const auto m = static_cast<int>(1 + random() % 3);
  const int n = velocities + positions;
  Lcs lcs{.A = Matrix::Zero(n, n), .B = Matrix::Zero(n, m), .C = Matrix::Zero(m, n), .D = Matrix::Zero(m, m)};
  lcs.E = Matrix::Identity(n, n);
  for (int i = 0; i < velocities; ++i) {
    for (int k = 0; k < n; ++k) lcs.A(i, k) = small(random);
    lcs.A(i, i) -= static_cast<double>(random() % 2);
  }
  for (int x = 0; x < positions; ++x)
    for (int k = 0; k < velocities; ++k) lcs.A(velocities + x, k) = k == x || random() % 6 == 0 ? 1 : 0;
  for (int j = 0; j < m; ++j) add_law(lcs, j, velocities, positions, random);
  for (int j = 0; j < m; ++j) {
    lcs.D(j, j) = static_cast<double>(random() % 2);
    const auto k = static_cast<int>(random() % m);
    const double entry = random() % 3 == 0 && k != j ? small(random) : 0;
    lcs.D(j, k) += entry;
    lcs.D(k, j) -= random() % 3 == 0 ? -entry : entry;
  }
  turn_rising_laws(lcs);
  Vector b(n), q(m);
  for (double& entry : b) entry = small(random);
  for (double& entry : q) entry = small(random);
  lcs.b = b;
  lcs.q = q;
  return lcs;
}

}  // namespace

TEST_SUITE("schemes/step/point/certified_systems") {
  TEST_CASE("of random systems that nearly have an energy none with a certificate has a step with two solutions") {
    const char* asked = std::getenv("PERP_CERTIFIED_SYSTEMS");
    const int trials = asked == nullptr ? 3000 : std::atoi(asked);
    std::mt19937 random(83);
    int certified = 0, steps = 0;
    for (int trial = 0; trial < trials; ++trial) {
      CAPTURE(trial);
      Lcs lcs = nearly_mechanical(random);
      if (random() % 2 == 0) {
        const auto n = static_cast<int>(lcs.n()), m = static_cast<int>(lcs.m());
        lcs = with_names(lcs, random);
        if (random() % 3 == 0) lcs.A(random() % n, n + random() % m) += small(random);  // one more reads a name
      }
      StepEquations equations(lcs, 1);
      const double longest = longest_monotone_step(equations), h = 0.9 * std::min(1.0, longest);
      if (!(longest > 0)) continue;
      ++certified;
      ModeCache table(equations.family(h));
      for (int k = 0; k < 4; ++k) {
        Vector x(lcs.n());
        for (double& entry : x) entry = small(random) / 2;
        std::vector<double> parameter(static_cast<std::size_t>(equations.parameters()));
        equations.parameter(x, 0, h, parameter.data());
        const ModeCache::Choice choice = table.nearest(parameter.data(), -1);
        if (choice.status != Status::solved) continue;  // none, or a continuum of multipliers
        CHECK(choice.solutions == 1);
        ++steps;
      }
    }
    CHECK(certified > trials / 5);
    CHECK(steps > trials / 2);
  }
}

#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include <perp/core/base/index.hpp>
#include <perp/lcp/parametric/certificate.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/step/point/balanced_units.hpp>
#include <perp/schemes/step/point/monotone_steps.hpp>

using namespace perp;

namespace {

using Bonds = std::vector<std::pair<int, int>>;

Bonds chain(int n) {
  Bonds bonds;
  for (int i = 1; i < n; ++i) bonds.emplace_back(i - 1, i);
  return bonds;
}

Bonds ring(int n) {
  Bonds bonds = chain(n);
  bonds.emplace_back(n - 1, 0);
  return bonds;
}

Bonds tree(int n) {
  Bonds bonds;
  for (int i = 1; i < n; ++i) bonds.emplace_back((i - 1) / 2, i);
  return bonds;
}

Bonds plane(int side) {
  Bonds bonds;
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j) {
      if (i + 1 < side) bonds.emplace_back(i * side + j, (i + 1) * side + j);
      if (j + 1 < side) bonds.emplace_back(i * side + j, i * side + j + 1);
    }
  return bonds;
}

/// m_i v_i' = Σ k (x_k - x_i) - F_i sign(v_i) + 20 sin(3 t) on mass 0, x_i' = v_i; masses from 0.5 to 3, springs from 0.5 to
/// 2000, friction from 0.1 to 2. Variable j stands at place[j], its equation beside it; laws in the order of `law`.
Lcs masses(unsigned seed, int n, const Bonds& bonds, const std::vector<int>& place, const std::vector<int>& law) {
  std::mt19937 random(seed);
  const auto between = [&](double lower, double upper) { return std::uniform_real_distribution<double>(lower, upper)(random); };
  Lcs lcs{.A = Matrix::Zero(2 * n, 2 * n), .B = Matrix::Zero(2 * n, n), .C = Matrix::Zero(n, 2 * n)};
  lcs.E = Matrix::Zero(2 * n, 2 * n);
  const auto x = [&](int i) { return place[at(i)]; };
  const auto v = [&](int i) { return place[at(n + i)]; };
  for (int i = 0; i < n; ++i) {
    lcs.E(x(i), x(i)) = lcs.A(x(i), v(i)) = 1;
    lcs.E(v(i), v(i)) = between(0.5, 3);
    lcs.B(v(i), law[at(i)]) = -between(0.1, 2);
    lcs.C(law[at(i)], v(i)) = 1;
  }
  for (const auto& [i, k] : bonds) {
    const double spring = std::pow(10, between(-0.3, 3.3));
    for (const auto& [a, b] : {std::pair(i, k), std::pair(k, i)}) {
      lcs.A(v(a), x(b)) += spring;
      lcs.A(v(a), x(a)) -= spring;
    }
  }
  const int driven = v(0);
  lcs.b = Signal(Vector(Vector::Zero(2 * n)), {driven}, [driven](double t, Vector& b) { b[driven] = 20 * std::sin(3 * t); });
  lcs.laws.assign(at(n), sign());
  return lcs;
}

std::vector<int> in_order(int count) {
  std::vector<int> order(at(count));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::vector<int> shuffled(int count, std::mt19937& random) {
  std::vector<int> order = in_order(count);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

}  // namespace

TEST_SUITE("schemes/step/point/balanced_units") {
  TEST_CASE("in the units that are found no row of a matrix of springs exceeds its diagonal, whatever the units of its unknowns") {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> stiffness(0.1, 10);
    std::uniform_int_distribution<int> exponent(-20, 20);
    for (const Bonds& bonds : {chain(30), ring(30), tree(30), plane(5)}) {
      int n = 0;
      for (const auto& [i, k] : bonds) n = std::max({n, i + 1, k + 1});
      std::vector<double> unit(at(n)), diagonal(at(n), 0.0);
      for (double& u : unit) u = std::ldexp(1.0, exponent(random));
      std::vector<linear::SparseMatrix::Placed> beside;
      for (const auto& [i, k] : bonds) {
        const double spring = stiffness(random);
        diagonal[at(i)] += spring * unit[at(i)] * unit[at(i)];
        diagonal[at(k)] += spring * unit[at(k)] * unit[at(k)];
        beside.push_back({std::min(i, k), std::max(i, k), -spring * unit[at(i)] * unit[at(k)]});
      }
      const auto u = balanced_units(diagonal, beside);
      REQUIRE(u);
      std::vector<double> sums(at(n), 0.0);
      for (const auto& [i, k, value] : beside) {
        sums[at(i)] += std::abs(value) * (*u)[at(k)];
        sums[at(k)] += std::abs(value) * (*u)[at(i)];
      }
      for (std::size_t i = 0; i < sums.size(); ++i) CHECK(sums[i] <= diagonal[i] * (*u)[i] * (1 + 0x1p-39));
    }
  }

  TEST_CASE("a matrix that no units balance has none, and rows that nothing couples keep theirs") {
    CHECK_FALSE(balanced_units({1, 1}, {{0, 1, -2}}));
    CHECK_FALSE(balanced_units({1, 0}, {{0, 1, -1}}));
    const auto alone = balanced_units({0, -3}, {});
    REQUIRE(alone);
    CHECK((*alone)[0] == 1);
    CHECK((*alone)[1] == 1);
  }

  TEST_CASE("masses, springs and friction of any size, in any order, have the certificate of long steps that matrices confirm") {
    std::mt19937 random(2);
    for (unsigned seed = 0; seed < 12; ++seed) {
      CAPTURE(seed);
      const int n = seed % 4 == 3 ? 9 : 8;
      const Bonds bonds = seed % 4 == 0 ? chain(n) : seed % 4 == 1 ? ring(n) : seed % 4 == 2 ? tree(n) : plane(3);
      const Lcs lcs = masses(seed, n, bonds, in_order(2 * n), in_order(n));
      CHECK(longest_monotone_step(StepEquations(lcs, 1)) > 100);
      Lcs equal = lcs;  // P-matrices stay such in other units of λ
      equal.B = -Matrix(lcs.C).transpose();
      for (const double h : {0.01, 0.5}) CHECK(has_at_most_one_solution(StepEquations(equal, 1).family(h)));
      const Lcs moved = masses(seed, n, bonds, shuffled(2 * n, random), shuffled(n, random));
      CHECK(longest_monotone_step(StepEquations(moved, 1)) > 100);
      Lcs pushing = lcs;  // a spring that pushes alone
      pushing.A(n, 0) = 5000;
      CHECK(longest_monotone_step(StepEquations(pushing, 1)) < 1);
    }
  }

  TEST_CASE("40 masses with dry friction are stepped without enumeration, in any order, to the same states") {
    std::mt19937 random(3);
    for (unsigned seed = 0; seed < 4; ++seed) {
      CAPTURE(seed);
      const int n = seed == 3 ? 36 : 40;
      const Bonds bonds = seed == 0 ? chain(n) : seed == 1 ? ring(n) : seed == 2 ? tree(n) : plane(6);
      const Span span{0, 0.5};
      const BackwardEuler scheme{.h = 0.1};
      const Trajectory run = integrate(masses(seed, n, bonds, in_order(2 * n), in_order(n)), Vector::Zero(2 * n), span, scheme);
      REQUIRE(run.status == Status::solved);
      CHECK(run.counts.at("enumerated_steps") == 0);
      CHECK(run.x.back().cwiseAbs().maxCoeff() > 1e-3);
      const std::vector<int> place = shuffled(2 * n, random);
      const Trajectory moved = integrate(masses(seed, n, bonds, place, shuffled(n, random)), Vector::Zero(2 * n), span, scheme);
      REQUIRE(moved.status == Status::solved);
      CHECK(moved.counts.at("enumerated_steps") == 0);
      for (int j = 0; j < 2 * n; ++j) CHECK(std::abs(moved.x.back()[place[at(j)]] - run.x.back()[j]) <= 1e-8);
    }
  }
}

#include <doctest/doctest.h>
#include <cmath>
#include <random>

#include <perp/core/base/error.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/schemes/step/step_equations.hpp>
#include <perp/schemes/step/solvability/step_solvability.hpp>
#include <perp/tests/schemes/switching_dae.hpp>

using namespace perp;
using Verdict = UniqueSolvability::Verdict;

namespace {

/// ẋ = a x + λ,  0 ≤ x ⊥ λ ≥ 0.
Lcs pushed(double a) {
  return {.E = Matrix{{1}},
          .A = Matrix{{a}},
          .B = Matrix{{1}},
          .b = Vector{{0}},
          .C = Matrix{{1}},
          .D = Matrix{{0}},
          .q = Vector{{0}},
          .laws = {complementarity()}};
}

long steps(const Lcs& lcs, double h, const Vector& x) {
  StepEquations equations(lcs, 1);
  const ParametricMlcp family = equations.family(h);
  std::vector<double> parameter(static_cast<std::size_t>(equations.parameters()));
  equations.parameter(x, 0, h, parameter.data());
  Mlcp problem = family.base;
  instantiate(family, parameter.data(), problem);
  return count(enumerate(problem));
}

}  // namespace

TEST_SUITE("schemes/step_solvability") {
  // [RAB] eq. (9): y = B2 x1 - B1 x2 does not depend on z, and along the graph of the constraint it
  // grows by B1 + B2, -B1, B2 - B1: one solution for every y exactly where these have one sign.
  TEST_CASE("[RAB]: a step is unique exactly where B1 + B2, -B1 and B2 - B1 have one sign") {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> uniform(-2, 2);
    std::vector<std::pair<double, double>> cases{{-0.5, 1}, {0.5, -1}, {-1, 0.5},
                                                 {2, 1},    {1, 2},    {-1, -2}};
    for (int k = 0; k < 60; ++k) cases.emplace_back(uniform(random), uniform(random));
    int unique = 0;
    for (const auto& [B1, B2] : cases) {
      const auto& shown_B1 = B1;
      CAPTURE(shown_B1);
      const auto& shown_B2 = B2;
      CAPTURE(shown_B2);
      const double slopes[] = {B1 + B2, -B1, B2 - B1};
      const bool one_sign = (slopes[0] > 0 && slopes[1] > 0 && slopes[2] > 0) ||
                            (slopes[0] < 0 && slopes[1] < 0 && slopes[2] < 0);
      for (const double h : {1e-3, 0.5}) {
        const StepSolvability found = step_solvability(switching_dae::own_law(B1, B2), 1, h);
        CHECK(found.at_h.is_unique() == one_sign);
        CHECK(found.shorter.is_unique() == one_sign);
        CHECK(found.below > 1e6);  // no finite one, up to rounding
        if (!one_sign) {
          CHECK(found.at_h.verdict == Verdict::fold);
          CHECK(found.at_h.law == 0);
          const auto slope = [&](const Mode& mode) {
            return slopes[static_cast<std::size_t>(mode[0])];
          };
          CHECK(slope(found.at_h.mode) * slope(found.at_h.neighbour) < 0);
        }
      }
      unique += one_sign ? 1 : 0;
    }
    CHECK(unique > 10);
    CHECK(unique < 50);
  }

  TEST_CASE("[RAB]: on the edge of a region the mode whose matrix is singular is named") {
    const StepSolvability left = step_solvability(switching_dae::own_law(1, -1), 1, 0.1);
    CHECK(left.at_h.verdict == Verdict::singular);
    CHECK(left.at_h.mode == Mode{0});  // B1 + B2 = 0
    // B2 - B1 = 0: B1 + B2 and -B1 differ in sign, which says more.
    CHECK(step_solvability(switching_dae::own_law(-1, -1), 1, 0.1).at_h.verdict == Verdict::fold);
    CHECK(step_solvability(switching_dae::own_law(0, 1), 1, 0.1).at_h.mode == Mode{1});
  }

  TEST_CASE("growth x' = 2 x bounds the step: unique below 1/2, two or none above") {
    const Lcs lcs = pushed(2);
    const StepSolvability small = step_solvability(lcs, 1, 0.4);
    CHECK(small.at_h.is_unique());
    CHECK(small.below == doctest::Approx(0.5).epsilon(1e-12));
    CHECK(small.mode == Mode{0});
    CHECK(steps(lcs, 0.4, Vector{{-1}}) == 1);
    CHECK(steps(lcs, 0.4, Vector{{1}}) == 1);
    const StepSolvability large = step_solvability(lcs, 1, 1);
    CHECK(large.at_h.verdict == Verdict::fold);
    CHECK(large.shorter.is_unique());
    CHECK(steps(lcs, 1, Vector{{-1}}) == 2);
    CHECK(steps(lcs, 1, Vector{{1}}) == 0);
    CHECK(step_solvability(lcs, 1, 0.5).at_h.verdict == Verdict::singular);
    CHECK(step_solvability(lcs, 0.5, 0.4).below == doctest::Approx(1).epsilon(1e-12));
    CHECK(std::isinf(step_solvability(pushed(-2), 1, 0.4).below));
  }

  TEST_CASE("shorter steps are alike, and at `below` a determinant changes its sign") {
    std::mt19937 random(11);
    std::normal_distribution<double> normal;
    int unique = 0;
    for (int trial = 0; trial < 300; ++trial) {
      const auto matrix = [&](int rows, int columns) {
        Matrix M(rows, columns);
        for (double& entry : M.reshaped()) entry = normal(random);
        return M;
      };
      Matrix E = matrix(3, 3);
      if (trial % 2 == 0) E.row(2).setZero();
      const Lcs lcs{.E = E,
                    .A = matrix(3, 3),
                    .B = matrix(3, 2),
                    .b = Vector{{0, 0, 0}},
                    .C = matrix(2, 3),
                    .D = matrix(2, 2),
                    .q = Vector{{0, 0}},
                    .laws = {sign(), complementarity()}};
      const double theta = trial % 3 == 0 ? 0.5 : 1;
      const StepEquations equations(lcs, theta);
      const auto at = [&](double h) { return unique_solvability(equations.family(h).base); };
      const StepSolvability found = step_solvability(lcs, theta, 1e-6);
      CAPTURE(trial);
      CAPTURE(found.below);
      const double last = std::min(found.below, 1e3);
      for (int k = 1; k < 12; ++k)
        CHECK(at(last * std::pow(0.5, k)).is_unique() == found.shorter.is_unique());
      if (!found.shorter.is_unique() || std::isinf(found.below)) continue;
      ++unique;
      CHECK(at(found.below * (1 - 1e-6)).is_unique());
      const UniqueSolvability above = at(found.below * (1 + 1e-6));
      CHECK(above.verdict == Verdict::fold);
    }
    CHECK(unique >= 20);
  }

  TEST_CASE("a diode with a capacitor is unique for every step") {
    // C v' = -v / R + i,  0 ≤ i ⊥ v - u + r i ≥ 0, r = 0 (an ideal diode)
    const Lcs diode{.E = Matrix{{1e-6}},
                    .A = Matrix{{-1e-3}},
                    .B = Matrix{{1}},
                    .b = Vector{{0}},
                    .C = Matrix{{1}},
                    .D = Matrix{{0}},
                    .q = Vector{{-5}},
                    .laws = {complementarity()}};
    for (const double h : {1e-9, 1e-5, 1.0}) {
      const StepSolvability found = step_solvability(diode, 1, h);
      CHECK(found.at_h.is_unique());
      CHECK(std::isinf(found.below));
    }
    // Two ideal diodes in parallel share their current as they like.
    Lcs two = diode;
    two.B = Matrix{{1, 1}};
    two.C = Matrix{{1}, {1}};
    two.D = Matrix::Zero(2, 2);
    two.q = Vector{{-5, -5}};
    two.laws.push_back(complementarity());
    const StepSolvability parallel = step_solvability(two, 1, 1e-5);
    CHECK(parallel.at_h.verdict == Verdict::singular);
    CHECK(parallel.at_h.mode == Mode{1, 1});
  }

  TEST_CASE("units of variables, of equations and of laws change no verdict, and units of time the bound alone") {
    std::mt19937 random(29);
    std::uniform_int_distribution<int> entry(-3, 3), power(-40, 40);
    for (int trial = 0; trial < 200; ++trial) {
      const auto matrix = [&](int rows, int columns) {
        Matrix M(rows, columns);
        for (double& number : M.reshaped()) number = entry(random);
        return M;
      };
      Lcs lcs{.E = Matrix{{1, 0}, {2, 1}},
              .A = matrix(2, 2),
              .B = matrix(2, 2),
              .b = Vector{{0, 0}},
              .C = matrix(2, 2),
              .D = matrix(2, 2),
              .q = Vector{{0, 0}},
              .laws = {sign(), trial % 2 == 0 ? complementarity() : box(0, 2)}};
      if (trial % 3 == 0) lcs.E.row(1).setZero();
      const StepSolvability plain = step_solvability(lcs, 1, 0.125);
      Lcs scaled = lcs;
      for (int j = 0; j < 2; ++j) {
        const double column = std::ldexp(1, power(random)), row = std::ldexp(1, power(random));
        scaled.E.col(j) *= column, scaled.A.col(j) *= column, scaled.C.col(j) *= column;
        scaled.E.row(j) *= row, scaled.A.row(j) *= row, scaled.B.row(j) *= row;
      }
      const int time = power(random);
      scaled.E *= std::ldexp(1, time);
      const StepSolvability found = step_solvability(scaled, 1, std::ldexp(0.125, time));
      CAPTURE(trial);
      CHECK(plain.is_proved);
      CHECK(found.is_proved);
      CHECK(found.below == std::ldexp(plain.below, time));
      CHECK(found.at_h.verdict == plain.at_h.verdict);
      CHECK(found.shorter.verdict == plain.shorter.verdict);
      CHECK(found.mode == plain.mode);
    }
  }

  TEST_CASE("a bound that holds in one unit is not found too far in another") {
    const double u = 0x1p-20;
    const Lcs lcs{.E = Matrix{{1, 0}, {2, -3 * u}},
                  .A = Matrix{{3, 3 * u}, {-2, 0}},
                  .B = Matrix{{0, 3}, {0, 0}},
                  .b = Vector{{1, 4}},
                  .C = Matrix{{-3, -u}, {3, -u}},
                  .D = Matrix{{-2, -2}, {0, 1}},
                  .q = Vector{{2.5, 4}},
                  .laws = {sign(), box(0, 2)}};
    const StepSolvability found = step_solvability(lcs, 1, 0.1);
    CHECK(found.below == doctest::Approx(0.186141).epsilon(1e-5));
    CHECK(steps(lcs, 0.25, Vector{{0.5, -2.5}}) == 3);
  }

  TEST_CASE("uncoupled company changes neither bound nor mode") {
    const Lcs one = pushed(2);
    Lcs both = one;
    const auto beside = [](const Matrix& a, double b) {
      Matrix M = Matrix::Zero(2, 2);
      M(0, 0) = a(0, 0);
      M(1, 1) = b;
      return M;
    };
    both.E = beside(one.E, 1), both.A = beside(one.A, -1), both.B = beside(one.B, -1);
    both.C = beside(one.C, 1), both.D = beside(one.D, 0);
    both.b = Vector{{0, 0}}, both.q = Vector{{0, 0}};
    both.laws.push_back(sign());
    const StepSolvability found = step_solvability(both, 1, 0.4);
    CHECK(found.below == 0.5);
    CHECK(found.mode == Mode{0, 0});
    CHECK(found.at_h.is_unique());
  }

  TEST_CASE("a law keeps a branch of a few units in the last place") {
    const Lcs narrow{.E = Matrix{{0}},
                     .A = Matrix{{-1}},
                     .B = Matrix{{-1}},
                     .b = Vector{{1}},
                     .C = Matrix{{0}},
                     .D = Matrix{{0}},
                     .q = Vector{{0}},
                     .laws = {box(1, 1 + 0x1p-39)}};
    CHECK(step_solvability(narrow, 1, 0.5).at_h.verdict == Verdict::singular);
  }

  TEST_CASE("wrong options are named") {
    CHECK_THROWS_AS(step_solvability(pushed(1), 1, 0), InvalidInput);
    CHECK_THROWS_AS(step_solvability(pushed(1), 0.2, 1), InvalidInput);
    CHECK_THROWS_AS(step_solvability(pushed(1), 1, 1, 1), InvalidInput);
  }

  // x⁺ = x + h x⁺ in every mode; with w = 0 the multiplier is free.
  TEST_CASE("a mode that is singular for every step length is told apart from one that is so for some") {
    Lcs lcs = pushed(1);
    lcs.B = Matrix{{0}};
    lcs.C = Matrix{{0}};
    lcs.q = Vector{{0}};
    const StepSolvability always = step_solvability(lcs, 1, 0.1);
    CHECK(always.at_h.verdict == Verdict::singular);
    CHECK(always.is_always);
    CHECK(always.below == doctest::Approx(1));  // where the other mode is
    const StepSolvability once = step_solvability(pushed(1), 1, 1);
    CHECK(once.at_h.verdict == Verdict::singular);
    CHECK_FALSE(once.is_always);
  }
}

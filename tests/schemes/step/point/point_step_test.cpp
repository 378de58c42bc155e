#include <doctest/doctest.h>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

#include <perp/core/base/index.hpp>
#include <perp/core/branches.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/parametric/mode_map.hpp>
#include <perp/lcp/parametric/certificate.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/step/point/monotone_steps.hpp>
#include <perp/schemes/step/point/point_step.hpp>
#include <perp/tests/schemes/step/point/random_systems.hpp>

using namespace perp;
using perp::test::change_units;
using perp::test::passive_system;
using perp::test::random_system;
using perp::test::RandomSystem;

namespace {

Mode random_mode(std::mt19937& random, const std::vector<Law>& laws) {
  Mode mode;
  for (const Law& law : laws)
    mode.push_back(
        std::uniform_int_distribution<int>(0, static_cast<int>(law.branches.size()) - 1)(random));
  return mode;
}

/// Are two numbers the same but for the rounding of the parameter in them?
bool is_near(double a, double b, double rounding) {
  return std::abs(a - b) <= rounding + 4 * unit_roundoff * std::abs(b);
}

}  // namespace

TEST_SUITE("schemes/step/point/point_step") {
  TEST_CASE(
      "a step at a point says and gives what the map of its mode does, in any units, with full and "
      "banded entries") {
    std::mt19937 random(11);
    int regular = 0, undecided = 0, inside = 0, banded = 0;
    for (int trial = 0; trial < 2000; ++trial) {
      CAPTURE(trial);
      const int n = trial % 10 == 0 ? 12 + trial % 7 : 1 + trial % 4,
                m = trial % 10 == 0 ? n : trial % 4;
      const RandomSystem system = random_system(random, n, m, trial % 3 == 0);
      StepEquations equations(system.lcs, system.theta);
      const ParametricMlcp family = equations.family(system.h);
      std::vector<double> parameter(static_cast<std::size_t>(equations.parameters()));
      equations.parameter(system.x, 0, system.h, parameter.data());
      PointStep step(equations, 2 * system.h);
      REQUIRE(step.is_usable());
      step.set(system.h, parameter.data());
      const Mode mode = random_mode(random, system.lcs.laws);
      const PointStep::Verdict verdict = step.solve(mode);
      const ModeMap map(family, mode);
      const ModeMap points(family, mode, ModeMap::Form::points);
      if (verdict == PointStep::Verdict::undecided) {
        undecided += map.kind() == ModeMap::Kind::regular;
        continue;
      }
      REQUIRE(points.kind() == ModeMap::Kind::regular);
      ++regular;
      banded += n >= 12;
      inside += verdict == PointStep::Verdict::inside;
      CHECK((verdict == PointStep::Verdict::inside) ==
            (points.verdict(parameter.data()) != ModeMap::Verdict::negative));
      Vector u(n), lambda(m), w(m);
      points.u(parameter.data(), u.data());
      points.lambda(parameter.data(), lambda.data());
      points.w(parameter.data(), w.data());
      for (int j = 0; j < n; ++j) CHECK(is_near(step.x()[j], u[j], step.rounding()[j]));
      if (n + m > 32) continue;  // no more refined to the last digit
      for (int j = 0; j < n; ++j)
        CHECK(is_near(step.x()[j], u[j], points.u_rounding(j, parameter.data())));
      for (int i = 0; i < m; ++i) {
        CHECK(is_near(step.lambda()[i], lambda[i], points.lambda_rounding(i, parameter.data())));
        CHECK(is_near(step.w()[i], w[i], points.w_rounding(i, parameter.data())));
      }
    }
    CHECK(regular > 800);
    CHECK(banded > 60);
    CHECK(inside > 150);
    CHECK(undecided < regular / 20);
  }

  TEST_CASE("units that are powers of two change no bit of a step at a point") {
    std::mt19937 random(12);
    int compared = 0;
    for (int trial = 0; trial < 300; ++trial) {
      const int n = 1 + trial % 5, m = 1 + trial % 3;
      const RandomSystem system = random_system(random, n, m, false);
      Lcs other = system.lcs;
      Vector x = system.x;
      const Vector unit = change_units(other, x, random, 30);
      const Mode mode = random_mode(random, system.lcs.laws);
      const auto solve = [&](const Lcs& lcs, const Vector& from) {
        const StepEquations equations(lcs, 1);
        std::vector<double> parameter(static_cast<std::size_t>(equations.parameters()));
        StepEquations(equations).parameter(from, 0, system.h, parameter.data());
        PointStep step(equations, system.h);
        step.set(system.h, parameter.data());
        const PointStep::Verdict verdict = step.solve(mode);
        return std::tuple{verdict, Vector(step.x()), Vector(step.lambda()), Vector(step.w())};
      };
      const auto [verdict, x_here, lambda, w] = solve(system.lcs, system.x);
      const auto [verdict_there, x_there, lambda_there, w_there] = solve(other, x);
      CHECK(verdict == verdict_there);
      if (verdict == PointStep::Verdict::undecided) continue;
      ++compared;
      CHECK(x_there == x_here.cwiseProduct(unit));
      CHECK(lambda_there == lambda);
      CHECK(w_there == w);
    }
    CHECK(compared > 100);
  }

  TEST_CASE("of many unknowns those that doubles know no digit of are solved in twice the precision: no short step is undecided") {
    constexpr int n = 100;
    Vector b(n);
    for (int i = 0; i < n; ++i) b[i] = 0.2 * std::cos(4 * std::numbers::pi * (i + 0.5) / n);
    Lcs lcs{.A = Matrix(-2 * Matrix::Identity(n, n)),
            .B = Matrix::Identity(n, n),
            .b = Signal(b, {0}, [](double t, Vector& value) { value[0] = 0.2 + 20 * std::sin(t / 6.4); }),
            .C = Matrix::Identity(n, n),
            .laws = std::vector<Law>(n, complementarity())};
    lcs.A.diagonal(1).setOnes();
    lcs.A.diagonal(-1).setOnes();
    const Trajectory run = integrate(lcs, Vector::Zero(n), {0, 30}, BackwardEuler{.h = 0.1});
    REQUIRE(run.status == Status::solved);
    StepEquations equations(validated(lcs), 1);
    PointStep step(equations, 0.1);
    std::vector<double> parameter(static_cast<std::size_t>(equations.parameters()));
    int asked = 0;
    for (const Event& event : run.events)
      for (std::size_t k = 0; k < run.t.size(); ++k)
        for (int exponent = -44; exponent < -30 && std::abs(run.t[k] - event.t) < 0.15; ++exponent) {
          const double h = std::ldexp(0.1, exponent);
          equations.parameter(event.x_after, event.t, event.t + h, parameter.data());
          step.set(h, parameter.data());
          CAPTURE(event.t);
          CAPTURE(exponent);
          CHECK(step.solve(run.mode[k]) != PointStep::Verdict::undecided);
          ++asked;
        }
    CHECK(asked > 200);
  }

  TEST_CASE("a mode that is singular where no right side reaches is never solved at a point") {
    // The third of three equations is the sum of the others: rounding leaves a pivot beside 0,
    // which no number of the right side is divided by.
    std::mt19937 random(13);
    std::uniform_int_distribution<int> small(1, 9);
    for (int trial = 0; trial < 200; ++trial) {
      CAPTURE(trial);
      Matrix A = Matrix::Zero(4, 4);
      A(0, 0) = -1;
      for (int j = 1; j < 4; ++j) {
        A(1, j) = small(random);
        A(2, j) = small(random);
        A(3, j) = A(1, j) + A(2, j);
      }
      const Lcs lcs{.E = Matrix(Vector{{1, 0, 0, 0}}.asDiagonal()),
                    .A = A,
                    .B = Matrix{{1}, {0}, {0}, {0}},
                    .b = Vector{{1, 0, 0, 0}},
                    .C = Matrix{{1, 0, 0, 0}},
                    .D = Matrix{{1}},
                    .q = Vector{{1}},
                    .laws = {complementarity()}};
      StepEquations equations(lcs, 1);
      const ModeMap map(equations.family(0.1), {0});
      REQUIRE(map.kind() != ModeMap::Kind::regular);
      PointStep step(equations, 0.1);
      const double x = 1;
      step.set(0.1, &x);
      CHECK(step.solve({0}) == PointStep::Verdict::undecided);
    }
  }
}

TEST_SUITE("schemes/step/point/monotone_steps") {
  TEST_CASE(
      "a step that the certificate by energy covers has at most one x, whatever its multipliers "
      "are") {
    std::mt19937 random(21);
    int several_multipliers = 0;
    for (int trial = 0; trial < 200; ++trial) {
      CAPTURE(trial);
      const int n = 1 + trial % 3, m = 1 + trial % 4;
      const Law law = trial % 5 == 0 ? sign() : complementarity();
      const Lcs lcs = passive_system(random, n, std::vector<Law>(static_cast<std::size_t>(m), law));
      StepEquations equations(lcs, trial % 2 == 0 ? 1 : 0.5);
      const double h = std::ldexp(1.0, trial % 30 - 15);
      REQUIRE(longest_monotone_step(equations) >= h);
      const Vector x = Vector::LinSpaced(n, -1, 1);
      const SolutionSet set = of_state(enumerate(equations.problem(x, 0, h, h)), n);
      REQUIRE(set.complete);
      CHECK(count_of_u(set) <= 1);
      several_multipliers += multiplicity(set) == Multiplicity::continuum;
    }
    CHECK(several_multipliers > 3);
  }

  TEST_CASE("units that are powers of two, of time too, do not change what energy certifies") {
    std::mt19937 random(22);
    std::uniform_int_distribution<int> small(0, 3), exponent(-9, 9);
    int bounded = 0, none = 0;
    for (int trial = 0; trial < 300; ++trial) {
      CAPTURE(trial);
      const int n = 2 + trial % 4;
      Lcs lcs = passive_system(random, n, {complementarity(), complementarity()});
      for (int i = 0; i < n; ++i) {  // losses, gains, and what couples rows
        lcs.A(i, i) = (small(random) - 1.5) * std::abs(lcs.A.row(i).sum());
        if (small(random) == 0) lcs.A(i, (i + 1) % n) *= 1.25;
        if (small(random) == 0) lcs.E(i, i) = 0;
      }
      const double here = longest_monotone_step(StepEquations(lcs, 1));
      Vector x = Vector::Ones(n);
      change_units(lcs, x, random, 20);
      const double time = std::ldexp(1.0, exponent(random));
      lcs.E *= time;
      const double there = longest_monotone_step(StepEquations(lcs, 1)) / time;
      CHECK((there == here || std::abs(there - here) <= 0x1p-30 * here));  // bounds of roundings
      bounded += here > 0 && here < inf;
      none += here == 0;
    }
    CHECK(bounded > 20);
    CHECK(none > 20);
  }

  TEST_CASE("what misses the certificate by the last bit has none") {
    const Lcs circuit{.A = Matrix{{0, -1}, {1, 0}},
                      .B = Matrix{{1, -1}, {0, 0}},
                      .C = Matrix{{1, 0}, {-1, 0}},
                      .D = Matrix{{1, 1}, {1, 1}},
                      .laws = {complementarity(), complementarity()}};
    CHECK(longest_monotone_step(StepEquations(circuit, 1)) > 1e10);
    const auto changed = [&](Matrix Lcs::*member, int i, int j, double value) {
      Lcs lcs = circuit;
      (lcs.*member)(i, j) = value;
      return longest_monotone_step(StepEquations(lcs, 1));
    };
    CHECK(changed(&Lcs::B, 0, 1, -1 - 0x1p-52) == 0);          // P B = C' no more
    CHECK(changed(&Lcs::D, 0, 0, 1 - 0x1p-53) == 0);           // D no more dominant
    CHECK(changed(&Lcs::C, 0, 1, 0x1p-1000) == 0);             // without its entry in B
    CHECK(changed(&Lcs::A, 0, 0, 0.5) == doctest::Approx(2));  // grows: short steps only
    // The same where products of entries are too small for doubles.
    Lcs small = circuit;
    small.B *= 0x1p-600;
    small.C *= 0x1p-600;
    small.D = Matrix{{0, 1}, {-1, 0}};
    CHECK(longest_monotone_step(StepEquations(small, 1)) > 1e10);
    small.B(0, 1) *= 1 + 0x1p-52;
    CHECK(longest_monotone_step(StepEquations(small, 1)) == 0);
    small.D.setZero();  // laws that nothing couples have any weight
    CHECK(longest_monotone_step(StepEquations(small, 1)) > 1e10);
    Lcs rising = circuit;
    rising.laws.changed(0) = sign();
    CHECK(longest_monotone_step(StepEquations(rising, 1)) == 0);
  }

  TEST_CASE("masses in a row with friction have a certificate, in any order of equations, that the matrix of a step confirms") {
    std::mt19937 random(23);
    for (int trial = 0; trial < 20; ++trial) {
      CAPTURE(trial);
      const int masses = 2 + trial % 5;
      Lcs lcs = perp::test::friction_chain(random, masses);
      const double longest = longest_monotone_step(StepEquations(lcs, 1));
      CHECK(longest > 0.05);
      for (const double share : {1e-3, 0.1, 0.9})
        CHECK(has_at_most_one_solution(StepEquations(lcs, 1).family(share * std::min(longest, 1.0))));
      // the equations in another order
      std::vector<int> order(at(lcs.n()));
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), random);
      Lcs moved = lcs;
      moved.E = Matrix(validated(lcs).E(order, Eigen::all));
      moved.A = Matrix(lcs.A(order, Eigen::all));
      moved.B = Matrix(lcs.B(order, Eigen::all));
      CHECK(longest_monotone_step(StepEquations(moved, 1)) == longest);
    }
  }

  TEST_CASE("a position of another mass that a law sees, and a spring that pushes, take the certificate of long steps away") {
    std::mt19937 random(24);
    Lcs lcs = perp::test::friction_chain(random, 3);
    lcs.C(0, 1) = 0.1;  // the friction of the first mass depends on the second's position
    CHECK(longest_monotone_step(StepEquations(lcs, 1)) == 0);
    lcs = perp::test::friction_chain(random, 3);
    lcs.A(3, 0) = 8;  // x1'' = 8 x1 ...: (1/h - 8 h) v1 + ... = 0 has no sign beyond h = 1 / sqrt(8)
    const double longest = longest_monotone_step(StepEquations(lcs, 1));
    CHECK(longest > 0);
    CHECK(longest < 1 / std::sqrt(8.0));
  }
}

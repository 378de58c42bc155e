#include <doctest/doctest.h>
#include <cmath>
#include <random>

#include <perp/core/branches.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/parametric/mode_map.hpp>
#include <perp/schemes/step/point/monotone_steps.hpp>
#include <perp/schemes/step/point/point_step.hpp>

using namespace perp;

namespace {

struct RandomSystem {
  Lcs lcs;
  double h, theta;
  Vector x;
};

/// Small numbers, many of them 0, algebraic equations, laws with slopes; units from 2^-40 to 2^40
/// where `wild`. From n = 12 on the entries lie in bands.
RandomSystem random_system(std::mt19937& random, int n, int m, bool wild) {
  std::uniform_int_distribution<int> small(-3, 3), exponent(-40, 40), kind(0, 5);
  const auto scale = [&](int count) {
    Vector units(count);
    for (double& unit : units) unit = wild ? std::ldexp(1.0, exponent(random)) : 1;
    return units;
  };
  const Vector of_x = scale(n), of_rows = scale(n), of_w = scale(m), of_lambda = scale(m);
  const auto matrix = [&](const Vector& rows, const Vector& columns) {
    Matrix M(rows.size(), columns.size());
    for (Eigen::Index i = 0; i < rows.size(); ++i)
      for (Eigen::Index j = 0; j < columns.size(); ++j)
        M(i, j) = n >= 12 && std::abs(i - j) > 1 ? 0 : small(random) * rows[i] / columns[j] / 3;
    return M;
  };
  RandomSystem system;
  system.lcs.A = matrix(of_rows, of_x);
  system.lcs.E = Matrix::Zero(n, n);
  for (int i = 0; i < n; ++i)
    if (small(random) > -2) system.lcs.E(i, i) = of_rows[i] / of_x[i];
  system.lcs.B = matrix(of_rows, of_lambda);
  system.lcs.C = matrix(of_w, of_x);
  system.lcs.D = matrix(of_w, of_lambda);
  const Vector one = Vector::Ones(1);
  system.lcs.b = Vector(matrix(of_rows, one).col(0));
  system.lcs.q = Vector(matrix(of_w, one).col(0));
  for (int i = 0; i < m; ++i) {
    const double w = of_w[i], lambda = of_lambda[i];
    const Law laws[] = {complementarity(), relay(-lambda, 2 * lambda),   hysteresis(-w, w),
                        complementarity(), normal_cone(-lambda, lambda), complementarity()};
    system.lcs.laws.push_back(laws[kind(random)]);
  }
  system.x = matrix(of_x, one).col(0);
  system.h = std::ldexp(1.0 + 0.1 * small(random), small(random) - 4);
  system.theta = small(random) > 0 ? 0.5 : 1;
  return system;
}

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
      std::uniform_int_distribution<int> exponent(-30, 30);
      Lcs other = system.lcs;
      Vector x = system.x, unit(n);
      for (int j = 0; j < n; ++j) {
        unit[j] = std::ldexp(1.0, exponent(random));
        const double row = std::ldexp(1.0, exponent(random));
        other.E.col(j) /= unit[j], other.A.col(j) /= unit[j], other.C.col(j) /= unit[j],
            x[j] *= unit[j];
        other.E.row(j) *= row, other.A.row(j) *= row, other.B.row(j) *= row;
        Vector b = other.b.constant();
        b[j] *= row;
        other.b = b;
      }
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
}

TEST_SUITE("schemes/step/point/monotone_steps") {
  /// P B = C' with random weights, sym(P A) and sym(D) dominant or 0: nothing but a certificate by
  /// energy holds it.
  Lcs passive_system(std::mt19937 & random, int n, int m) {
    std::uniform_int_distribution<int> small(-3, 3), exponent(-20, 20);
    Lcs lcs;
    Vector p(n);
    for (double& weight : p) weight = std::ldexp(1.0 + std::abs(small(random)), exponent(random));
    Matrix skew = Matrix::Zero(n, n), turn = Matrix::Zero(m, m);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < i; ++j) skew(j, i) = -(skew(i, j) = small(random));
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < i; ++j) turn(j, i) = -(turn(i, j) = small(random));
    lcs.A = p.cwiseInverse().asDiagonal() * skew;
    lcs.C = Matrix::Zero(m, n);
    for (double& entry : lcs.C.reshaped()) entry = small(random);
    lcs.B = lcs.C.transpose();
    for (int i = 0; i < n; ++i) {  // 1/p is rounded: the same for a whole row
      const double inverse = 1 / p[i];
      for (int j = 0; j < m; ++j)
        lcs.B(i, j) = lcs.C(j, i) == 0 ? 0 : std::ldexp(lcs.C(j, i), std::ilogb(inverse));
      lcs.A.row(i) = std::ldexp(1.0, std::ilogb(inverse)) * skew.row(i);
    }
    lcs.D = turn;
    Vector b(n), q(m);
    for (double& entry : b) entry = small(random);
    for (double& entry : q) entry = small(random);
    lcs.b = b;
    lcs.q = q;
    lcs.laws.assign(static_cast<std::size_t>(m), complementarity());
    return lcs;
  }

  TEST_CASE(
      "a step that the certificate by energy covers has at most one x, whatever its multipliers "
      "are") {
    std::mt19937 random(21);
    int several_multipliers = 0;
    for (int trial = 0; trial < 200; ++trial) {
      CAPTURE(trial);
      const int n = 1 + trial % 3, m = 1 + trial % 4;
      const Lcs lcs = passive_system(random, n, m);
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
    Lcs rising = circuit;
    rising.laws[0] = sign();
    CHECK(longest_monotone_step(StepEquations(rising, 1)) == 0);
  }
}

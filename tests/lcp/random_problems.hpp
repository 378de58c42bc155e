#pragma once

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <perp/lcp/mlcp.hpp>

namespace perp::test {

/// Seeded problems with small integer data, so that degenerate and singular ones are common.
class RandomProblems {
 public:
  explicit RandomProblems(unsigned seed) : engine_(seed) {}

  static const std::vector<std::string>& families() {
    static const std::vector<std::string> names{"index2_step", "lcp",    "relay", "mixed",
                                                "degenerate",  "scaled", "laws"};
    return names;
  }

  int integer(int lower, int upper) {
    return std::uniform_int_distribution<int>(lower, upper)(engine_);
  }
  bool chance(double probability) { return std::bernoulli_distribution(probability)(engine_); }

  Mlcp make(const std::string& family) {
    if (family == "index2_step") return index2_step();
    if (family == "lcp") {
      Mlcp problem = dense(0, integer(1, 4), 3, 0.7);
      problem.laws.assign(problem.laws.size(), complementarity());
      return problem;
    }
    if (family == "relay") {
      Mlcp problem = dense(integer(0, 1), integer(1, 3), 3, 0.8);
      problem.laws.assign(problem.laws.size(), chance(0.5) ? box(-1, 1) : sign());
      return problem;
    }
    if (family == "mixed") return mixed();
    if (family == "degenerate") return degenerate();
    if (family == "laws") return any_laws();
    Mlcp problem = chance(0.5) ? mixed() : dense(0, integer(1, 3), 3, 0.8);
    change_units(problem, 20);
    return problem;
  }

  /// Entries in -size..size, nonzero with the given probability; boxes of complementarity.
  Mlcp dense(int p, int m, int size, double density) {
    const auto matrix = [&](int rows, int columns) {
      Matrix result(rows, columns);
      for (int j = 0; j < columns; ++j)
        for (int i = 0; i < rows; ++i) result(i, j) = chance(density) ? integer(-size, size) : 0;
      return result;
    };
    return {.M11 = matrix(p, p),
            .M12 = matrix(p, m),
            .q1 = matrix(p, 1),
            .M21 = matrix(m, p),
            .M22 = matrix(m, m),
            .q2 = matrix(m, 1),
            .laws = std::vector<Law>(static_cast<std::size_t>(m), complementarity())};
  }

  /// Multiplies rows and unknowns by powers of two up to 2^±bits: the same problem in other units.
  void change_units(Mlcp& problem, int bits) {
    const auto powers = [&](int count) {
      Vector factors(count);
      for (double& factor : factors) factor = std::ldexp(1.0, integer(-bits, bits));
      return factors;
    };
    const int p = problem.p(), m = problem.m();
    problem = scaled(problem, {powers(p), powers(p), powers(m), powers(m)});
  }

  /// Renumbers equations, u and laws.
  void permute(Mlcp& problem, std::vector<int>& u, std::vector<int>& laws) {
    const auto shuffled = [&](int count) {
      std::vector<int> order(static_cast<std::size_t>(count));
      for (int i = 0; i < count; ++i) order[static_cast<std::size_t>(i)] = i;
      std::shuffle(order.begin(), order.end(), engine_);
      return order;
    };
    const std::vector<int> rows = shuffled(problem.p());
    u = shuffled(problem.p());
    laws = shuffled(problem.m());
    const Mlcp old = problem;
    problem.M11 = old.M11(rows, u);
    problem.M12 = old.M12(rows, laws);
    problem.q1 = old.q1(rows);
    problem.M21 = old.M21(laws, u);
    problem.M22 = old.M22(laws, laws);
    problem.q2 = old.q2(laws);
    for (std::size_t i = 0; i < laws.size(); ++i)
      problem.laws[i] = old.laws[static_cast<std::size_t>(laws[i])];
  }

 private:
  /// One backward Euler step of [RAB] eq. (36) with data in quarters.
  Mlcp index2_step() {
    const double B1 = integer(-4, 4) / 4.0, B2 = integer(-4, 4) / 4.0, h = integer(1, 8) / 4.0;
    const double x1 = integer(-4, 4) / 4.0, x2 = integer(-4, 4) / 4.0;
    const double a = chance(0.5) ? h : 0;  // A of eq. (37)
    Mlcp problem = dense(3, 3, 0, 0);
    problem.M11 << 1, -a, -h * B1, a, 1, -h * B2, 1, -1, 0;
    problem.M12 << 0, 0, 0, 0, 0, 0, 1, -1, 0;
    problem.q1 << -x1 - h, -x2, 1;
    problem.M21 << 2, 0, 0, 1, 0, 0, 0, 0, 0;
    problem.M22 << 1, 0, 0, 0, 0, 1, 0, -1, 0;
    problem.q2 << 0, 0, 2;
    return problem;
  }

  Law any_box() {
    const double lower = integer(-2, 1), upper = lower + integer(0, 3);
    switch (integer(0, 5)) {
      case 0: return box(-inf, inf);
      case 1: return box(lower, inf);
      case 2: return box(-inf, upper);
      case 3: return box(lower, lower);
      case 4: return complementarity();
      default: return box(lower, upper);
    }
  }

  /// Equations with dependent rows, boxes of every kind.
  Mlcp mixed() {
    Mlcp problem = dense(integer(1, 3), integer(0, 3), 2, 0.6);
    if (const int p = problem.p(); p > 1 && chance(0.5)) {
      const int multiple = integer(-2, 2);
      problem.M11.row(p - 1) = multiple * problem.M11.row(0);
      if (chance(0.7)) problem.M12.row(p - 1) = multiple * problem.M12.row(0);
      if (chance(0.7)) problem.q1[p - 1] = multiple * problem.q1[0];
    }
    for (Law& law : problem.laws) law = any_box();
    return problem;
  }

  /// Low rank, vanishing q, repeated rows.
  Mlcp degenerate() {
    Mlcp problem = dense(integer(0, 1), integer(1, 4), 2, 0.5);
    const int m = problem.m();
    if (chance(0.5)) problem.q2.setZero();
    if (chance(0.5)) problem.q1.setZero();
    if (m > 1 && chance(0.5)) problem.M22.row(m - 1) = problem.M22.row(0);
    if (m > 1 && chance(0.3)) problem.M22.col(m - 1) = -problem.M22.col(0);
    for (Law& law : problem.laws) law = chance(0.6) ? complementarity() : any_box();
    return problem;
  }

  /// Laws with up to five branches, sloped ones too.
  Mlcp any_laws() {
    Mlcp problem = dense(integer(0, 1), integer(1, 3), 2, 0.7);
    for (Law& law : problem.laws) {
      switch (integer(0, 7)) {
        case 0: law = abs_plus_sign(); break;
        case 1: law = saturation(-1, integer(0, 2)); break;
        case 2: law = dead_zone(-1, integer(-1, 2)); break;
        case 3: law = hysteresis(-1, 1); break;
        case 4: law = absolute(); break;
        case 5: law = step(); break;
        case 6: law = normal_cone(integer(-2, 0), inf); break;
        default:
          law = {"stairs",
                 {{0, 1, -2, {-inf, -1}, {}},
                  {1, 0, -1, {}, {-2, 0}},
                  {0, 1, 0, {-1, 1}, {}},
                  {-2, 1, -2, {1, 2}, {}},
                  {0, 1, 2, {2, inf}, {}}}};
      }
    }
    return problem;
  }

  std::mt19937 engine_;
};

}  // namespace perp::test

#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <perp/core/lcs.hpp>
#include <perp/lcp/parametric/certificate.hpp>
#include <perp/schemes/step/point/monotone_steps.hpp>

namespace perp::test {

/// Up to which length steps of the system are certified to have one solution.
inline double longest(const Lcs& lcs, double theta = 1) { return longest_monotone_step(StepEquations(lcs, theta)); }

struct RandomSystem {
  Lcs lcs;
  double h = 0, theta = 1;
  Vector x;
};

/// Powers of two 2^k, |k| <= most.
inline Vector random_units(std::mt19937& random, Eigen::Index count, int most) {
  std::uniform_int_distribution<int> exponent(-most, most);
  Vector units(count);
  for (double& unit : units) unit = std::ldexp(1.0, exponent(random));
  return units;
}

/// Small numbers, many of them 0, algebraic equations, laws with slopes and with memory; units from
/// 2^-40 to 2^40 where `wild`. From n = 12 on the entries lie in bands.
inline RandomSystem random_system(std::mt19937& random, int n, int m, bool wild) {
  std::uniform_int_distribution<int> small(-3, 3), kind(0, 5);
  const int most = wild ? 40 : 0;
  const Vector of_x = random_units(random, n, most), of_rows = random_units(random, n, most),
               of_w = random_units(random, m, most), of_lambda = random_units(random, m, most);
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

/// A skew matrix of small numbers.
inline Matrix random_turn(std::mt19937& random, int n) {
  std::uniform_int_distribution<int> small(-3, 3);
  Matrix turn = Matrix::Zero(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) turn(j, i) = -(turn(i, j) = small(random));
  return turn;
}

/// B and D of falling laws as they are where these rise: with S = -1 for them.
inline void turn_rising_laws(Lcs& lcs) {
  for (int j = 0; j < lcs.m(); ++j) {
    if (monotonicity(lcs.laws[static_cast<std::size_t>(j)]) == Monotonicity::falling) continue;
    lcs.B.col(j) *= -1;
    lcs.D.row(j) *= -1;
  }
}

/// P B = C' S with P and S that are powers of two but for signs, P A and S D skew: nothing but a
/// certificate by energy tells that a step has one x. `laws`: monotone ones.
inline Lcs passive_system(std::mt19937& random, int n, const std::vector<Law>& laws) {
  std::uniform_int_distribution<int> small(-3, 3);
  const auto m = static_cast<int>(laws.size());
  const Vector weight = random_units(random, n, 20);
  Lcs lcs;
  lcs.laws = laws;
  lcs.E = Matrix::Identity(n, n);
  lcs.C = Matrix::Zero(m, n);
  for (double& entry : lcs.C.reshaped()) entry = small(random);
  lcs.A = weight.asDiagonal() * random_turn(random, n);
  lcs.B = weight.asDiagonal() * lcs.C.transpose();
  lcs.D = random_turn(random, m);
  turn_rising_laws(lcs);
  Vector b(n), q(m);
  for (double& entry : b) entry = small(random);
  for (double& entry : q) entry = small(random);
  lcs.b = b;
  lcs.q = q;
  return lcs;
}

/// Masses in a row, joined by springs with dampers, with dry friction each on a belt: positions, then velocities.
inline Lcs friction_chain(std::mt19937& random, int masses) {
  std::uniform_real_distribution<double> about_one(0.9, 1.1);
  const int n = 2 * masses;
  Lcs lcs{.A = Matrix::Zero(n, n), .B = Matrix::Zero(n, masses), .b = Vector(Vector::Zero(n)), .C = Matrix::Zero(masses, n)};
  const auto join = [&](int i, int k, double spring, double damper) {
    lcs.A(masses + i, i) -= spring;
    lcs.A(masses + i, masses + i) -= damper;
    if (k < 0) return;
    lcs.A(masses + i, k) += spring;
    lcs.A(masses + i, masses + k) += damper;
  };
  for (int i = 0; i < masses; ++i) {
    lcs.A(i, masses + i) = 1;
    join(i, -1, 0.05 * about_one(random), 0.01);
    if (i == 0) continue;
    const double spring = about_one(random), damper = 0.1 * about_one(random);
    join(i, i - 1, spring, damper);
    join(i - 1, i, spring, damper);
  }
  for (int i = 0; i < masses; ++i) {
    lcs.B(masses + i, i) = -about_one(random);
    lcs.C(i, masses + i) = 1;
  }
  lcs.q = Vector(Vector::Constant(masses, -0.5));
  lcs.laws.assign(static_cast<std::size_t>(masses), sign());
  return lcs;
}

/// Beside the frictions of a chain of masses springs that only push, on the ground or on the next mass, of which some have
/// dampers.
inline Lcs positions_watched(const Lcs& chain, std::mt19937& random) {
  const auto n = chain.n(), m = chain.m(), masses = n / 2;
  const auto all = m + masses;
  Lcs lcs = chain;
  lcs.E = Matrix::Identity(n, n);
  lcs.B.conservativeResizeLike(Matrix::Zero(n, all));
  lcs.C.conservativeResizeLike(Matrix::Zero(all, n));
  lcs.D = Matrix::Zero(all, all);
  Vector q = Vector::Constant(all, -0.5);
  for (auto j = m; j < all; ++j) {
    const auto i = j - m, next = i + 1;
    const double damper = random() % 3 == 0 ? 0.125 : 0;
    const auto read = [&](Eigen::Index mass, double side) {
      lcs.C(j, mass) = side;
      lcs.C(j, masses + mass) = side * damper;
      lcs.B(masses + mass, j) = side;
    };
    read(i, 1);
    if (next < masses && random() % 2 == 0) read(next, -1);
    lcs.D(j, j) = random() % 2 == 0 ? 0.5 : 0.25;
    q[j] = 0.25;
    lcs.laws.push_back(complementarity());
  }
  lcs.q = q;
  return lcs;
}

/// The same system with algebraic variables in its end: forces s λ_j of some laws, and arguments C_j x of others, which equations
/// without a rate give, in a random order.
inline Lcs with_names(const Lcs& given, std::mt19937& random) {
  const auto n = given.n(), m = given.m(), size = n + m;
  const auto grown = [&](const Matrix& of_x, Eigen::Index rows, Eigen::Index columns) {
    Matrix whole = Matrix::Zero(rows, columns);
    whole.topLeftCorner(of_x.rows(), of_x.cols()) = of_x;
    return whole;
  };
  Lcs lcs = given;
  lcs.E = grown(given.E.size() == 0 ? Matrix(Matrix::Identity(n, n)) : given.E, size, size);
  lcs.A = grown(given.A, size, size);
  lcs.B = grown(given.B, size, m);
  lcs.C = grown(given.C, m, size);
  Vector b = Vector::Zero(size);
  b.head(n) = given.b.constant();
  lcs.b = b;
  std::vector<int> row;
  for (int j = 0; j < m; ++j) row.push_back(static_cast<int>(n) + j);
  std::shuffle(row.begin(), row.end(), random);
  for (int j = 0; j < m; ++j) {
    const int y = static_cast<int>(n) + j, i = row[static_cast<std::size_t>(j)];
    const double of_row = std::ldexp(1.0 + random() % 3, static_cast<int>(random() % 40) - 20);
    lcs.A(i, y) = -of_row;
    if (random() % 2 == 0) {
      const double s = std::ldexp(random() % 2 == 0 ? 1.0 : -1.0, static_cast<int>(random() % 20) - 10);
      lcs.B(i, j) = s * of_row;
      lcs.A.col(y).head(n) = given.B.col(j) / s;
      lcs.B.col(j).head(n).setZero();
    } else {
      lcs.A.row(i).head(n) = of_row * given.C.row(j);
      lcs.C.row(j).setZero();
      lcs.C(j, y) = 1;
    }
  }
  return lcs;
}

/// The same constant system in units 2^k, |k| <= `most`, of its variables and equations, and x in
/// them. Returns those of the variables.
inline Vector change_units(Lcs& lcs, Vector& x, std::mt19937& random, int most) {
  const Vector unit = random_units(random, lcs.n(), most),
               row = random_units(random, lcs.n(), most);
  const auto columns = unit.cwiseInverse().asDiagonal();
  lcs.E = row.asDiagonal() * lcs.E * columns;
  lcs.A = row.asDiagonal() * lcs.A * columns;
  lcs.B = row.asDiagonal() * lcs.B;
  lcs.C = lcs.C * columns;
  lcs.b = Vector(row.cwiseProduct(lcs.b.constant()));
  x = unit.cwiseProduct(x);
  return unit;
}

}  // namespace perp::test

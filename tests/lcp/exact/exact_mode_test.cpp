#include <doctest/doctest.h>
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <perp/core/base/rational/integer_rows.hpp>
#include <perp/core/branches.hpp>
#include <perp/lcp/exact/exact_mode.hpp>

using namespace perp;

namespace {

/// Few entries, some of them with all digits of a double and very different sizes.
ParametricMlcp drawn_family(std::mt19937& random, int p, int m, int k) {
  const auto entry = [&] {
    if (random() % 2 == 0) return 0.0;
    if (random() % 2 == 0) return static_cast<double>(random() % 5) - 2;
    return std::ldexp(static_cast<double>(random()) / 4294967296.0 - 0.5, static_cast<int>(random() % 60) - 30);
  };
  const auto matrix = [&](int rows, int columns) {
    Matrix M(rows, columns);
    for (Eigen::Index i = 0; i < M.size(); ++i) M.data()[i] = entry();
    return M;
  };
  ParametricMlcp family;
  family.base = {matrix(p, p), matrix(p, m), matrix(p, 1), matrix(m, p), matrix(m, m), matrix(m, 1), {}};
  const Law laws[] = {sign(), abs_plus_sign(), saturation(-1, 1), complementarity()};
  for (int i = 0; i < m; ++i) family.base.laws.push_back(laws[random() % 4]);
  family.Q1 = matrix(p, k), family.Q2 = matrix(m, k);
  family.W = Matrix::Identity(p, p), family.Z = matrix(p, k);
  return family;
}

/// (M, Q, q)·(y, θ, 1) of one column of (θ, 1), and what it is in rationals.
Rational sum_of(const ExactMode& exact, const Matrix& of_u, const Matrix& of_lambda, Eigen::Index row, std::size_t column) {
  Rational sum;
  for (Eigen::Index j = 0; j < of_u.cols(); ++j) sum += Rational(of_u(row, j)) * exact.value()[static_cast<std::size_t>(j)][column];
  for (Eigen::Index j = 0; j < of_lambda.cols(); ++j)
    sum += Rational(of_lambda(row, j)) * exact.value()[static_cast<std::size_t>(of_u.cols() + j)][column];
  return sum;
}

}  // namespace

TEST_SUITE("lcp/exact") {
  TEST_CASE("the only solution of a mode satisfies all its equations in rationals, for every θ") {
    std::mt19937 random(3);
    int regular = 0;
    for (int trial = 0; trial < 400; ++trial) {
      const int p = 1 + trial % 5, m = 1 + trial % 3, k = 1 + trial % 3;
      const ParametricMlcp family = drawn_family(random, p, m, k);
      const Mlcp& base = family.base;
      const Mode mode(static_cast<std::size_t>(m), 0);
      const ExactMode exact(family, mode);
      if (exact.free() > 0 || !exact.equalities().empty()) continue;
      ++regular;
      std::vector<double> theta(static_cast<std::size_t>(k));
      for (double& number : theta) number = static_cast<double>(random() % 9) / 8 - 0.5;
      for (int i = 0; i < p + m; ++i)
        CHECK(exact.unknown(i, theta.data()) == ExactMode::value(exact.value()[static_cast<std::size_t>(i)], theta.data()));
      for (int i = 0; i < m; ++i)
        CHECK(exact.argument(i, theta.data()) == ExactMode::value(exact.w_value()[static_cast<std::size_t>(i)], theta.data()));
      for (std::size_t l = 0; l <= static_cast<std::size_t>(k); ++l) {
        const auto given = [&](const Matrix& Q, const Vector& q, Eigen::Index i) {
          return Rational(l < static_cast<std::size_t>(k) ? Q(i, static_cast<Eigen::Index>(l)) : q[i]);
        };
        for (Eigen::Index i = 0; i < p; ++i) CHECK(sum_of(exact, base.M11, base.M12, i, l) + given(family.Q1, base.q1, i) == 0);
        for (Eigen::Index i = 0; i < m; ++i) {
          const Branch& branch = base.laws[static_cast<std::size_t>(i)].branches[0];
          const Rational w = sum_of(exact, base.M21, base.M22, i, l) + given(family.Q2, base.q2, i);
          const Rational lambda = exact.value()[static_cast<std::size_t>(p + i)][l];
          const Rational c(l == static_cast<std::size_t>(k) ? branch.c : 0.0);
          CHECK(Rational(branch.a) * w + Rational(branch.b) * lambda == c);
          CHECK(exact.w_value()[static_cast<std::size_t>(i)][l] == w);
        }
      }
    }
    CHECK(regular > 100);
  }

  TEST_CASE("equations that contradict are told alike with states behind them that nothing depends on") {
    // u0 + λ0 + λ1 = θ0, λ0 in sign(u0 - θ1), λ1 in sign(u0), and u_i = u_(i-1) / 3 + θ0 behind
    for (const int behind : {0, 1, 40}) {
      CAPTURE(behind);
      const int p = 1 + behind;
      ParametricMlcp family;
      family.base = {Matrix::Identity(p, p), Matrix::Zero(p, 2), Vector::Zero(p), Matrix::Zero(2, p), Matrix::Zero(2, 2), Vector::Zero(2), {}};
      family.base.M12(0, 0) = family.base.M12(0, 1) = 1;
      family.base.M21(0, 0) = family.base.M21(1, 0) = 1;
      family.base.laws = {sign(), sign()};
      family.Q1 = Matrix::Zero(p, 2), family.Q2 = Matrix::Zero(2, 2);
      family.W = Matrix::Identity(p, p), family.Z = Matrix::Zero(p, 2);
      family.Q1(0, 0) = -1, family.Q2(0, 1) = -1;
      for (int i = 1; i < p; ++i) {
        family.base.M11(i, i - 1) = -1.0 / 3;
        family.Q1(i, 0) = -1;
      }
      const auto held = [&](int law) {
        const auto& branches = family.base.laws[static_cast<std::size_t>(law)].branches;
        return static_cast<int>(std::ranges::find_if(branches, [](const Branch& b) { return b.b == 0; }) - branches.begin());
      };
      // Both arguments are held at 0: u0 = θ1 and u0 = 0, which leaves one of the multipliers open.
      const ExactMode both(family, {held(0), held(1)});
      CHECK(both.free() == 1);
      REQUIRE(both.equalities().size() == 1);
      const ExactMode::Row& row = both.equalities().front();
      CHECK((row[0] == 0 && row[1] != 0 && row[2] == 0));
      // One is: u = (θ1, θ1/3 + θ0, ..), the other one has its value.
      const ExactMode one(family, {held(0), 0});
      REQUIRE((one.free() == 0 && one.equalities().empty()));
      Rational u = Rational(7);
      const double theta[] = {5, 7};
      for (int i = 0; i < p; ++i) {
        CHECK(one.unknown(i, theta) == u);
        u = Rational(1.0 / 3) * u + Rational(5);
      }
      // Without a parameter in it they contradict nothing, and all unknowns behind follow.
      family.Q2.setZero();
      const ExactMode same(family, {held(0), held(1)});
      CHECK((same.free() == 1 && same.equalities().empty() && same.determines_u()));
      for (int i = 1; i < p; ++i)
        CHECK(ExactMode::value(same.value()[static_cast<std::size_t>(i)], theta) ==
              Rational(1.0 / 3) * ExactMode::value(same.value()[static_cast<std::size_t>(i - 1)], theta) + Rational(5));
    }
  }

  TEST_CASE("a row of integers loses its entry in the column of the pivot, and with a solution of both rows it keeps it") {
    std::mt19937 random(5);
    for (int trial = 0; trial < 200; ++trial) {
      std::vector<Rational> row(4), pivot(4), x(4, 1);
      for (std::size_t j = 0; j < 3; ++j) {
        x[j] = Rational(static_cast<long>(random() % 9) - 4);
        row[j] = Rational(static_cast<double>(random() % 7) - 3) / Rational(8);
        pivot[j] = Rational(static_cast<double>(random() % 7) - 3) / Rational(5);
      }
      const std::size_t column = random() % 3;
      if (pivot[column] == 0) continue;
      const auto value = [&](const std::vector<Rational>& of) {
        Rational sum;
        for (std::size_t j = 0; j < 4; ++j) sum += of[j] * x[j];
        return sum;
      };
      row[3] = -value(row), pivot[3] = -value(pivot);
      make_integers(row);
      make_integers(pivot);
      for (const Rational& entry : row) CHECK(entry.str().find('/') == std::string::npos);
      CHECK((value(row) == 0 && value(pivot) == 0));
      eliminate(row, pivot, column);
      CHECK(row[column] == 0);
      CHECK(value(row) == 0);
    }
  }
}

#include <doctest/doctest.h>
#include <cmath>
#include <random>

#include <perp/core/branches.hpp>
#include <perp/lcp/exact/exact_mode.hpp>
#include <perp/lcp/parametric/mode_cache.hpp>

using namespace perp;

namespace {

/// Small integers, of which some rows of Q vanish: degenerate modes and margins that are constant.
ParametricMlcp random_family(std::mt19937& random, int p, int m, int k) {
  std::uniform_int_distribution<int> entry(-2, 2), kind(0, 3), zero(0, 2);
  const auto matrix = [&](int rows, int columns) {
    Matrix M(rows, columns);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) M(i, j) = entry(random);
    return M;
  };
  ParametricMlcp family;
  family.base = {matrix(p, p), matrix(p, m), matrix(p, 1), matrix(m, p), matrix(m, m), matrix(m, 1), {}};
  const Law laws[] = {sign(), abs_plus_sign(), saturation(-1, 1), complementarity()};
  for (int i = 0; i < m; ++i) family.base.laws.push_back(laws[kind(random)]);
  family.Q1 = matrix(p, k) * (zero(random) == 0 ? 0 : 1);
  family.Q2 = matrix(m, k) / 3;
  family.W = Matrix::Identity(p, p);
  family.Z = matrix(p, k);
  return family;
}

/// Is an exact value within the bound of what stands for it?
bool holds(const Rational& exact, double value, double bound) {
  const Rational miss = exact - Rational(value);
  return !(Rational(bound) < (miss.sign() < 0 ? -miss : miss));
}

}  // namespace

TEST_SUITE("lcp/parametric/mode_points") {
  TEST_CASE("a mode known by points decides and says what its rows and rational numbers say") {
    std::mt19937 random(7);
    std::uniform_int_distribution<int> half(-6, 6);
    int decided = 0, zeros = 0, constant = 0;
    for (int trial = 0; trial < 300; ++trial) {
      CAPTURE(trial);
      const int p = 1 + trial % 4, m = 1 + trial % 3, k = 1 + trial % 3;
      const ParametricMlcp family = random_family(random, p, m, k);
      Mode mode(static_cast<std::size_t>(m), 0);
      do {
        const ModeMap rows(family, mode), points(family, mode, ModeMap::Form::points);
        if (rows.kind() == ModeMap::Kind::singular) CHECK(points.kind() == ModeMap::Kind::singular);
        const ExactMode exact(family, mode);
        if (points.kind() != ModeMap::Kind::regular || exact.free() > 0) continue;
        for (int point = 0; point < 3; ++point) {
          Vector theta(k), u(p), lambda(m), w(m);
          for (int j = 0; j < k; ++j) theta[j] = half(random) / 2.0;
          REQUIRE(points.margins().size() == exact.ends().size());
          for (std::size_t i = 0; i < exact.ends().size(); ++i) {
            const Rational value = ExactMode::value(exact.ends()[i].value, theta.data());
            CHECK(points.sign(static_cast<int>(i), theta.data()) == value.sign());
            const ModeMap::Verdict verdict = points.verdict(static_cast<int>(i), theta.data());
            if (value.sign() >= 0) CHECK(verdict != ModeMap::Verdict::negative);
            if (value < Rational(-1e-9)) CHECK(verdict == ModeMap::Verdict::negative);
            ++(value.sign() == 0 ? zeros : decided);
          }
          constant += rows.margins().size() < points.margins().size();
          if (rows.kind() == ModeMap::Kind::regular)
            CHECK((points.verdict(theta.data()) == ModeMap::Verdict::negative) ==
                  (rows.verdict(theta.data()) == ModeMap::Verdict::negative));
          points.u(theta.data(), u.data());
          points.lambda(theta.data(), lambda.data());
          points.w(theta.data(), w.data());
          for (int j = 0; j < p; ++j)
            CHECK(holds(ExactMode::value(exact.value()[static_cast<std::size_t>(j)], theta.data()), u[j],
                        std::abs(u[j]) * unit_roundoff + 1e-28 * (1 + points.u_rounding(j, theta.data()) / unit_roundoff)));
          for (int i = 0; i < m; ++i) {
            const auto law = static_cast<std::size_t>(i);
            CHECK(holds(ExactMode::value(exact.value()[static_cast<std::size_t>(p) + law], theta.data()), lambda[i],
                        points.lambda_rounding(i, theta.data())));
            CHECK(holds(ExactMode::value(exact.w_value()[law], theta.data()), w[i],
                        points.w_rounding(i, theta.data())));
          }
        }
      } while (next_mode(mode, family.base.laws));
    }
    MESSAGE(decided << " margins decided, " << zeros << " are 0, " << constant << " modes with constant ones");
    CHECK(decided > 5000);
    CHECK(zeros > 80);
    CHECK(constant > 200);
  }

  TEST_CASE("a family of many modes gives a mode rows once it was met often, and goes on with the same answers") {
    constexpr int n = 10;  // 2^10 modes: a chain of diodes, 2^-4 (v⁺ - θ) = -2 v⁺ + neighbours + λ
    ParametricMlcp family;
    Matrix M = Matrix::Identity(n, n) * (16 + 2);
    M.diagonal(1).setConstant(-1);
    M.diagonal(-1).setConstant(-1);
    family.base = {M, -Matrix::Identity(n, n), Vector::Constant(n, 0.25), Matrix::Identity(n, n), Matrix::Zero(n, n),
                   Vector::Zero(n), {n, complementarity()}};
    family.Q1 = -16 * Matrix::Identity(n, n);
    family.Q2 = Matrix::Zero(n, n);
    family.W = family.Z = Matrix::Identity(n, n);
    ModeCache cache(family);
    const int open = cache.find(Mode(n, 0));
    REQUIRE(open >= 0);
    Vector theta(n), first(n), later(n);
    theta.setLinSpaced(1, 2);
    cache.map(open).u(theta.data(), first.data());
    for (int k = 0; k < 2 * n; ++k) {
      cache.prepare(open);
      theta[0] += 0.125;
      CHECK(cache.admissible(open, theta.data()));
    }
    CHECK_FALSE(cache.map(open).is_met_often());
    theta[0] = 1;
    cache.map(open).u(theta.data(), later.data());
    for (int j = 0; j < n; ++j) CHECK(later[j] == doctest::Approx(first[j]).epsilon(1e-15));
    theta[3] = -5;  // one diode conducts
    const int found = cache.exchange(theta.data(), open);
    REQUIRE(found >= 0);
    Mode expected(n, 0);
    expected[3] = 1;
    CHECK(cache.map(found).modes().front() == expected);
  }
}

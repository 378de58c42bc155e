#include <doctest/doctest.h>
#include <cmath>
#include <Eigen/LU>
#include <random>

#include <perp/core/pencil/pencil.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/perp.hpp>
#include <perp/schemes/located/jets/consistent_jet.hpp>
#include <perp/schemes/step_mlcp.hpp>

using perp::ConsistentJets;
using perp::Jet;
using perp::Lcs;
using perp::Matrix;
using perp::Vector;

namespace {

using Random = std::mt19937_64;

Matrix random_matrix(Random& random, int rows, int columns) {
  std::normal_distribution<double> normal;
  return Matrix::NullaryExpr(rows, columns, [&] { return normal(random); });
}

/// Random and well conditioned.
Matrix random_regular(Random& random, int n) {
  return random_matrix(random, n, n) + 3 * std::sqrt(n) * Matrix::Identity(n, n);
}

/// [RAB] Definition 8: L E K = diag(I, N), L F K = diag(W, I), with N^μ = 0 ≠ N^(μ-1), and the
/// perturbation r = L p = (r1, r2) a polynomial of degree 3: coefficient k is column k.
struct Weierstrass {
  int differential, nilpotent, mu;
  Matrix W, N, L, K, E, F;
  Matrix r;

  [[nodiscard]] int n() const { return differential + nilpotent; }

  Weierstrass(Random& random, int differential_size, int index)
      : differential(differential_size), nilpotent(index + 1), mu(index) {
    // one Jordan block of size μ and one of size 1, turned
    Matrix jordan = Matrix::Zero(nilpotent, nilpotent);
    for (int k = 0; k + 1 < mu; ++k) jordan(k, k + 1) = 1;
    const Matrix T = random_regular(random, nilpotent);
    N = T * jordan * T.inverse();
    W = random_matrix(random, differential, differential);
    L = random_regular(random, n());
    K = random_regular(random, n());
    Matrix left = Matrix::Identity(n(), n()), right = left;
    left.bottomRightCorner(nilpotent, nilpotent) = N;
    right.topLeftCorner(differential, differential) = W;
    E = L.inverse() * left * K.inverse();
    F = L.inverse() * right * K.inverse();
    r = random_matrix(random, n(), 4);
  }

  /// p(t) = L^-1 r(t).
  [[nodiscard]] Vector p(double t) const {
    return L.inverse() * (r * Vector{{1, t, t * t, t * t * t}});
  }

  /// Taylor coefficients 0..3 in t of ẑ = Σ (-1)^i N^i r2^(i), the formula of Proposition 1.
  [[nodiscard]] Matrix z_hat() const {
    Matrix term = r.bottomRows(nilpotent), sum = Matrix::Zero(nilpotent, 4);
    for (int i = 0; i < mu; ++i) {
      sum += term;
      Matrix derivative = Matrix::Zero(nilpotent, 4);
      for (int k = 0; k < 3; ++k) derivative.col(k) = (k + 1) * term.col(k + 1);
      term = -N * derivative;
    }
    return sum;
  }

  /// Taylor coefficients 0..3 of x̂ from x̂' = r1 - W x̂.
  [[nodiscard]] Matrix x_hat(const Vector& start) const {
    Matrix x = Matrix::Zero(differential, 4);
    x.col(0) = start;
    for (int k = 0; k < 3; ++k)
      x.col(k + 1) = (r.topRows(differential).col(k) - W * x.col(k)) / (k + 1);
    return x;
  }

  /// y = K (x̂, ẑ), coefficients 0..3.
  [[nodiscard]] Matrix solution(const Vector& start) const {
    Matrix both(n(), 4);
    both << x_hat(start), z_hat();
    return K * both;
  }

  /// E y' = -F y + p(t), with p from v' = S v, v = (1, t, t²/2, t³/6): unknowns (y, v).
  [[nodiscard]] Lcs autonomous() const {
    const int all = n() + 4;
    Lcs lcs{.E = Matrix::Identity(all, all), .A = Matrix::Zero(all, all)};
    lcs.E.topLeftCorner(n(), n()) = E;
    lcs.A.topLeftCorner(n(), n()) = -F;
    lcs.A.topRightCorner(n(), 4) = L.inverse() * r * Vector{{1, 1, 2, 6}}.asDiagonal();
    for (int k = 0; k < 3; ++k) lcs.A(n() + k + 1, n() + k) = 1;
    return lcs;
  }
};

Jet jet_of(const Weierstrass& system, const Vector& y, int levels) {
  ConsistentJets jets(perp::as_dcs(system.autonomous()), levels);
  Vector start = Vector::Zero(system.n() + 4);
  start.head(system.n()) = y;
  start[system.n()] = 1;
  return jets.solve({}, 0, start, Vector());
}

/// ẋ = A x + B z + b, 0 = C x + D z + q: random with k algebraic variables, D given.
struct SemiExplicit {
  Matrix A, B, C, D;
  Vector b, q;
  SemiExplicit(Random& random, int n, const Matrix& given_D)
      : A(random_matrix(random, n, n)),
        B(random_matrix(random, n, static_cast<int>(given_D.rows()))),
        C(random_matrix(random, static_cast<int>(given_D.rows()), n)),
        D(given_D),
        b(random_matrix(random, n, 1)),
        q(random_matrix(random, static_cast<int>(given_D.rows()), 1)) {}

  [[nodiscard]] Lcs lcs() const {
    const auto n = A.rows(), k = D.rows();
    Lcs made{.E = Matrix::Zero(n + k, n + k), .A = Matrix(n + k, n + k)};
    made.E.topLeftCorner(n, n).setIdentity();
    made.A << A, B, C, D;
    Vector constant(n + k);
    constant << b, q;
    made.b = constant;
    return made;
  }

  /// The jet from x, and the library's z and ż of it.
  [[nodiscard]] Jet jet(const Vector& x) const {
    ConsistentJets jets(perp::as_dcs(lcs()), 3);
    Vector start = Vector::Zero(A.rows() + D.rows());
    start.head(A.rows()) = x;
    return jets.solve({}, 0, start, Vector());
  }
};

}  // namespace

TEST_SUITE("claims/switching_dae_weierstrass") {
  TEST_CASE("[RAB] Definitions 8, 9: the index is the nilpotency μ of N") {
    Random random(81);
    for (int trial = 0; trial < 120; ++trial) {
      const Weierstrass system(random, trial % 4, 1 + trial % 5);
      Matrix power = Matrix::Identity(system.nilpotent, system.nilpotent);
      for (int k = 0; k + 1 < system.mu; ++k) power *= system.N;
      CHECK(power.norm() > 1e-6);
      CHECK((power * system.N).norm() < 1e-9);
      CHECK(perp::index_of(system.E, -system.F) == system.mu);
    }
  }

  TEST_CASE(
      "[RAB] Proposition 1: the solution is y = K (x, Σ (-1)^i N^i r2^(i)), Taylor "
      "coefficient by coefficient") {
    Random random(82);
    for (int trial = 0; trial < 80; ++trial) {
      const int mu = 1 + trial % 4;
      const Weierstrass system(random, trial % 4, mu);
      const Vector x0 = random_matrix(random, system.differential, 1);
      const Matrix exact = system.solution(x0);
      const Jet jet = jet_of(system, exact.col(0), 4);
      CAPTURE(trial);
      CHECK(jet.consistent);
      CHECK(jet.determined);
      for (int k = 0; k < 4; ++k) {
        int known = 0;
        for (int j = 0; j < system.n(); ++j) {
          if (jet.x_known[static_cast<std::size_t>(j)] <= k) continue;
          ++known;
          CHECK(jet.x(j, k) == doctest::Approx(exact(j, k)).epsilon(1e-7));
        }
        if (k <= 4 + 1 - mu) CHECK(known == system.n());  // K + 1 levels less the index
      }
    }
  }

  TEST_CASE(
      "[RAB] Proposition 1: y(0) is determined by the derivatives of the perturbation: others "
      "are inconsistent") {
    Random random(83);
    for (int trial = 0; trial < 60; ++trial) {
      const int mu = 2 + trial % 3;  // with μ = 1 the jet corrects ẑ, which is algebraic
      const Weierstrass system(random, trial % 3, mu);
      const Vector x0 = random_matrix(random, system.differential, 1);
      Vector y = system.solution(x0).col(0);
      CHECK(jet_of(system, y, 4).consistent);
      // another ẑ whose image under N is not 0
      y += system.K.rightCols(system.nilpotent) * system.N.transpose() *
           random_matrix(random, system.nilpotent, 1);
      CHECK_FALSE(jet_of(system, y, 4).consistent);
    }
  }

  TEST_CASE("[RAB] Proposition 1: implicit Euler converges to it with order 1, for μ = 1, 2, 3") {
    Random random(84);
    for (int mu = 1; mu <= 3; ++mu)
      for (int trial = 0; trial < 3; ++trial) {
        const Weierstrass system(random, 2, mu);
        const Vector x0 = random_matrix(random, 2, 1);
        std::vector<int> rows(static_cast<std::size_t>(system.n()));
        for (int i = 0; i < system.n(); ++i) rows[static_cast<std::size_t>(i)] = i;
        const Lcs lcs{.E = system.E,
                      .A = -system.F,
                      .b = perp::Signal(Vector::Zero(system.n()), rows,
                                        [&](double t, Vector& b) { b = system.p(t); })};
        // x̂ from a fine series of the exponential: 20 terms of its Taylor series at 0
        const auto exact = [&](double t) {
          Vector term = x0, sum = x0;
          for (int k = 0; k < 40; ++k) {
            const Vector r1 = k < 4 ? Vector(system.r.topRows(2).col(k)) : Vector(Vector::Zero(2));
            term =
                (k < 4 ? Vector(r1 * std::pow(t, k) - system.W * term) : Vector(-system.W * term)) *
                (t / (k + 1));
            sum += term;
          }
          Vector both(system.n());
          both << sum, system.z_hat() * Vector{{1, t, t * t, t * t * t}};
          return Vector(system.K * both);
        };
        const auto error = [&](double h) {
          const auto run = perp::integrate(lcs, exact(0), {0, 1}, perp::BackwardEuler{.h = h});
          REQUIRE(run.status == perp::Status::solved);
          return (run.x.back() - exact(1)).norm();
        };
        const double coarse = error(1.0 / 128), fine = error(1.0 / 1024);
        REQUIRE(fine > 1e-9);
        CAPTURE(mu);
        CHECK(std::log2(coarse / fine) / 3 == doctest::Approx(1).epsilon(0.06));
      }
  }

  TEST_CASE("[RAB] after Definition 7: a singular pencil has no solution or infinitely many") {
    Random random(85);
    int none = 0, many = 0;
    for (int trial = 0; trial < 60; ++trial) {
      // one row of (E, F) repeats another; p does so too, or not
      const int n = 3;
      Matrix E = random_matrix(random, n, n), F = random_matrix(random, n, n);
      Vector p = random_matrix(random, n, 1);
      E.row(2) = E.row(0);
      F.row(2) = F.row(0);
      if (trial % 2) p[2] = p[0];
      CHECK_FALSE(perp::index_of(E, -F).has_value());
      const Lcs lcs{.E = E, .A = -F, .B = Matrix(n, 0), .b = p, .C = Matrix(0, n)};
      const Vector y = random_matrix(random, n, 1);
      const auto kind =
          perp::multiplicity_of_u(perp::enumerate(perp::step_problem(lcs, y, 0, 0.125)));
      CHECK(kind == (trial % 2 ? perp::Multiplicity::continuum : perp::Multiplicity::none));
      (trial % 2 ? many : none)++;
    }
    CHECK(none > 0);
    CHECK(many > 0);
  }

  TEST_CASE("[RAB] section 2, corrected: with D regular z' = -D^-1 C (A x + B z + b), index 1") {
    // printed: z' = D^-1 (C A x + B z)
    Random random(86);
    for (int trial = 0; trial < 40; ++trial) {
      const int k = 1 + trial % 2;
      const SemiExplicit dae(random, 3, random_regular(random, k));
      CHECK(perp::index_of(dae.lcs().E, dae.lcs().A) == 1);
      const Vector x = random_matrix(random, 3, 1);
      const Vector z = -dae.D.inverse() * (dae.C * x + dae.q);
      const Vector rate = -dae.D.inverse() * dae.C * (dae.A * x + dae.B * z + dae.b);
      const Jet jet = dae.jet(x);
      REQUIRE(jet.determined);
      CHECK((jet.x.col(0).tail(k) - z).norm() < 1e-9 * (1 + z.norm()));
      CHECK((jet.x.col(1).tail(k) - rate).norm() < 1e-8 * (1 + rate.norm()));
    }
  }

  TEST_CASE(
      "[RAB] section 2, corrected: with D = 0 and C B regular z' = -(C B)^-1 C A (A x + B z + "
      "b), index 2") {
    // printed: z' = (C B)^-1 (C A² x + C A B z)
    Random random(87);
    for (int trial = 0; trial < 40; ++trial) {
      const int k = 1 + trial % 2;
      SemiExplicit dae(random, 4, Matrix::Zero(k, k));
      CHECK(perp::index_of(dae.lcs().E, dae.lcs().A) == 2);
      const Vector x = random_matrix(random, 4, 1);
      dae.q = -dae.C * x;  // consistent
      const Matrix CB = dae.C * dae.B;
      if (std::abs(CB.determinant()) < 0.05) continue;
      const Vector z = -CB.inverse() * dae.C * (dae.A * x + dae.b);
      const Vector rate = -CB.inverse() * dae.C * dae.A * (dae.A * x + dae.B * z + dae.b);
      const Jet jet = dae.jet(x);
      REQUIRE(jet.determined);
      CHECK((jet.x.col(0).tail(k) - z).norm() < 1e-9 * (1 + z.norm()));
      CHECK((jet.x.col(1).tail(k) - rate).norm() < 1e-8 * (1 + rate.norm()));
    }
  }

  TEST_CASE("[RAB] section 2: D = 0 with C B singular is not of index 2") {
    Random random(88);
    for (int trial = 0; trial < 20; ++trial) {
      SemiExplicit dae(random, 4, Matrix::Zero(1, 1));
      dae.C -= dae.C * dae.B * dae.B.transpose() / dae.B.squaredNorm();  // C B = 0
      CHECK(perp::index_of(dae.lcs().E, dae.lcs().A) != 2);
    }
  }
}

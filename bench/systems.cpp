#include <cmath>
#include <Eigen/LU>
#include <numbers>
#include <random>

#include <perp/bench/systems.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/step_mlcp.hpp>

namespace perp::bench {
namespace {

Problem index2(const char* name, double B1, double B2, Vector x0, Vector end) {
  const Lcs lcs{
      .E = Matrix{{1, 0, 0}, {0, 1, 0}, {0, 0, 0}},
      .A = Matrix{{0, 0, B1}, {0, 0, B2}, {1, -1, 0}},
      .B = Matrix{{0, 0, 0}, {0, 0, 0}, {1, -1, 0}},
      .b = Vector{{1, 0, 1}},
      .C = Matrix{{2, 0, 0}, {1, 0, 0}, {0, 0, 0}},
      .D = Matrix{{1, 0, 0}, {0, 0, 1}, {0, -1, 0}},
      .q = Vector{{0, 0, 2}},
      .laws = std::vector<perp::Law>(3, complementarity()),
  };
  return {name, lcs, std::move(x0), 1e-5, 1, 1'000'000, std::move(end), 1e-8};
}

constexpr double Lf = 1e-2, Cf = 1e-6, R = 1e3, Cp = 300e-9;  // H, F, Ω, F

Problem circuit(const char* name, Matrix A, Matrix B, Matrix C, Matrix D, double h, double theta,
                Vector end) {
  Lcs lcs;
  lcs.laws.assign(static_cast<std::size_t>(B.cols()), complementarity());
  Vector x0 = Vector::Zero(A.rows());
  x0(0) = 10;
  lcs.A = std::move(A);
  lcs.B = std::move(B);
  lcs.C = std::move(C);
  lcs.D = std::move(D);
  const auto steps = std::lround(5e-3 / h);
  return {name, std::move(lcs), std::move(x0), h, theta, steps, std::move(end), 1e-9};
}

Mlcp lcp(Matrix M, Vector q) {
  const auto m = q.size();
  Mlcp problem;
  problem.M11.resize(0, 0);
  problem.M12.resize(0, m);
  problem.q1.resize(0);
  problem.M21.resize(m, 0);
  problem.M22 = std::move(M);
  problem.q2 = std::move(q);
  problem.laws.assign(static_cast<std::size_t>(m), complementarity());
  return problem;
}

double normal(
    std::mt19937_64& random) {  // not std::normal_distribution: the same numbers everywhere
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += static_cast<double>(random() >> 11) * 0x1p-53;
  return sum;
}

Matrix random_matrix(int m, std::mt19937_64& random) {
  Matrix M(m, m);
  for (double& entry : M.reshaped()) entry = normal(random);
  return M;
}

Matrix positive_definite(int m, std::mt19937_64& random) {
  const Matrix G = random_matrix(m, random), K = random_matrix(m, random);
  return G * G.transpose() / m + 0.1 * Matrix::Identity(m, m) + (K - K.transpose()) / std::sqrt(m);
}

}  // namespace

Problem crossing() {
  return index2("crossing", -0.5, 1, Vector{{-5, 4, 0}}, Vector{{13. / 3, 16. / 3}});
}

Problem repulsive() {
  return index2("repulsive", -1, 0.5, Vector{{0, 0, 0}}, Vector{{8. / 3, 11. / 3}});
}

Problem rlcd() {
  return circuit("rlcd", Matrix{{0, -1 / Cf}, {1 / Lf, 0}}, Matrix{{-1 / Cf}, {0}}, Matrix{{-1, 0}},
                 Matrix{{R}}, 1e-5, 0.5 + 1e-13, Vector{{2.74122779342483, -0.011374441237735}});
}

Problem bridge() {
  return circuit("bridge", Matrix{{0, -1 / Cf}, {1 / Lf, 0}},
                 Matrix{{0, 0, -1 / Cf, 1 / Cf}, {0, 0, 0, 0}},
                 Matrix{{0, 0}, {0, 0}, {-1, 0}, {1, 0}},
                 Matrix{{1 / R, 1 / R, -1, 0}, {1 / R, 1 / R, 0, -1}, {1, 0, 0, 0}, {0, 1, 0, 0}},
                 1e-6, 0.5, Vector{{0.788386872639656, -0.00275197951497857}});
}

Problem bridge_capacitor() {
  return circuit("bridge_capacitor", Matrix{{0, -1 / Cf, 0}, {1 / Lf, 0, 0}, {0, 0, -1 / (R * Cp)}},
                 Matrix{{0, 0, -1 / Cf, 1 / Cf}, {0, 0, 0, 0}, {1 / Cp, 0, 1 / Cp, 0}},
                 Matrix{{0, 0, 1}, {0, 0, 0}, {-1, 0, 1}, {1, 0, 0}},
                 Matrix{{0, -1, 0, 0}, {1, 0, 1, -1}, {0, -1, 0, 0}, {0, 1, 0, 0}}, 1e-6, 1,
                 Vector{{-0.149999738479805, -0.00463940778206331, 0.340317460422384}});
}

double ladder_source(double t) { return 20 * std::sin(2 * std::numbers::pi * t / 40); }

double ladder_bias(int i, int n) { return 0.2 * std::cos(4 * std::numbers::pi * (i + 0.5) / n); }

Problem ladder(int n) {
  Matrix A = Matrix::Zero(n, n);
  A.diagonal().setConstant(-2);
  A.diagonal(1).setOnes();
  A.diagonal(-1).setOnes();
  Lcs lcs;
  lcs.A = A;
  lcs.B = Matrix::Identity(n, n);
  Vector b(n);
  for (int i = 0; i < n; ++i) b(i) = ladder_bias(i, n);
  const double bias = b(0);
  lcs.b = Signal(b, {0}, [bias](double t, Vector& value) { value(0) = bias + ladder_source(t); });
  lcs.C = Matrix::Identity(n, n);
  lcs.laws.assign(static_cast<std::size_t>(n), complementarity());
  return {"ladder", std::move(lcs), Vector::Zero(n), 0.1, 1, 400, {}, 1e-9};
}

LadderReference::LadderReference(int n, double h)
    : h_(h),
      v_(Vector::Zero(n)),
      next_(Vector::Zero(n)),
      lambda_(Vector::Zero(n)),
      diagonal_(n),
      rhs_(n),
      bias_(n),
      blocked_(static_cast<std::size_t>(n), 0) {
  for (int i = 0; i < n; ++i) bias_(i) = ladder_bias(i, n);
}

void LadderReference::solve(double t_next) {
  // (1 + 2h) v_i - h v_{i-1} - h v_{i+1} = v_i(k) + h [i = 1] v_0,  or v_i = 0 where the diode
  // conducts
  const auto n = v_.size();
  double above = 0;  // superdiagonal entry of the row before, after elimination
  double before = 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    const bool blocked = blocked_[static_cast<std::size_t>(i)] != 0;
    const double lower = blocked || i == 0 ? 0 : -h_;
    const double pivot = (blocked ? 1 : 1 + 2 * h_) - lower * above;
    const double source = bias_(i) + (i == 0 ? ladder_source(t_next) : 0);
    const double right = blocked ? 0 : v_(i) + h_ * source;
    above = blocked ? 0 : -h_ / pivot;
    diagonal_(i) = above;
    before = (right - lower * before) / pivot;
    rhs_(i) = before;
  }
  next_(n - 1) = rhs_(n - 1);
  for (Eigen::Index i = n - 2; i >= 0; --i) next_(i) = rhs_(i) - diagonal_(i) * next_(i + 1);
}

void LadderReference::step(double t_next) {
  const auto n = v_.size();
  bool changed = true;
  for (int iteration = 0; changed && iteration < 1000; ++iteration) {
    solve(t_next);
    changed = false;
    for (Eigen::Index i = 0; i < n; ++i) {
      const double left = i == 0 ? ladder_source(t_next) : next_(i - 1);
      const double right = i == n - 1 ? 0 : next_(i + 1);
      lambda_(i) = (next_(i) - v_(i)) / h_ - left + 2 * next_(i) - right - bias_(i);
      char& blocked = blocked_[static_cast<std::size_t>(i)];
      const bool block = blocked ? lambda_(i) > 0 : next_(i) < 0;
      changed = changed || block != static_cast<bool>(blocked);
      blocked = block;
    }
  }
  v_ = next_;
}

Lcs copies(const Lcs& lcs, int k) {
  const Lcs one = validated(lcs);
  const auto spread = [k](const Matrix& part) {
    Matrix whole = Matrix::Zero(k * part.rows(), k * part.cols());
    for (int i = 0; i < k; ++i)
      whole.block(i * part.rows(), i * part.cols(), part.rows(), part.cols()) = part;
    return whole;
  };
  Lcs many{.E = spread(one.E),
           .A = spread(one.A),
           .B = spread(one.B),
           .b = Vector(one.b.constant().replicate(k, 1)),
           .C = spread(one.C),
           .D = spread(one.D),
           .q = Vector(one.q.constant().replicate(k, 1)),
           .laws = {}};
  for (int i = 0; i < k; ++i)
    for (const Law& law : one.laws) many.laws.push_back(law);
  return many;
}

Mlcp random_p(int m) {
  std::mt19937_64 random(static_cast<unsigned>(m));
  const Matrix M = positive_definite(m, random);
  Vector q(m);
  for (double& entry : q) entry = normal(random);
  return lcp(M, q);
}

Mlcp random_multi(int m) {
  std::mt19937_64 random(static_cast<unsigned>(1000 + m));
  Matrix M = Matrix::Zero(m, m);
  M.topLeftCorner(4, 4) = -Matrix::Identity(4, 4);  // w = 1 - λ: solved by λ = 0 and by λ = 1
  M.bottomRightCorner(m - 4, m - 4) = positive_definite(m - 4, random);
  M += 0.02 * random_matrix(m, random);
  Vector q(m);
  for (double& entry : q) entry = normal(random);
  q.head(4).setOnes();
  return lcp(M, q);
}

Mlcp index2_copies(int m) {
  // The repulsive case near the kink: this step has two solutions, one that stays and one that
  // slides.
  const Lcs lcs = copies(repulsive().lcs, m / 3);
  return step_problem(lcs, Vector{{-0.01, -0.99, 0}}.replicate(m / 3, 1), 0, 0.1);
}

Mlcp index2_chain(int m) {
  Mlcp problem = index2_copies(m);
  for (int i = 1; i < m / 3; ++i) problem.M11(3 * i, 3 * (i - 1)) = 1e-3;
  return problem;
}

Mlcp index2_two_sided(int m) {
  Mlcp problem = index2_chain(m);
  for (int i = 1; i < m / 3; ++i) problem.M11(3 * (i - 1), 3 * i) = 1e-3;
  return problem;
}

Norm index2_norm(int m) {
  const int k = m / 3;
  Norm norm{Matrix::Zero(2 * k, 2 * m), Vector::Zero(2 * m)};
  for (int i = 0; i < k; ++i) {
    norm.W(2 * i, 3 * i) = norm.W(2 * i + 1, 3 * i + 1) = 1;
    norm.center.segment(3 * i, 2) << -0.01, -0.99;
  }
  return norm;
}

long brute_force_count(const Mlcp& problem) {
  const int m = problem.m();
  long count = 0;
  for (long mode = 0; mode < 1L << m; ++mode) {
    Matrix K = Matrix::Identity(m, m);  // column i: w_i, or -M e_i where λ_i is basic
    for (int i = 0; i < m; ++i)
      if (mode >> i & 1) K.col(i) = -problem.M22.col(i);
    const Vector basic = K.partialPivLu().solve(problem.q2);
    count += basic.minCoeff() >= 0;
  }
  return count;
}

}  // namespace perp::bench

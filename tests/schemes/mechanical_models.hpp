#pragma once

#include <string>
#include <vector>

#include <perp/core/recorder.hpp>

namespace perp::test {

/// Complementarity laws with these names.
inline std::vector<Law> contacts(const std::vector<std::string>& names) {
  std::vector<Law> laws(names.size(), complementarity());
  for (std::size_t i = 0; i < names.size(); ++i) laws[i].name = names[i];
  return laws;
}

/// ḣ = v, v̇ = −g + λ, 0 ≤ h − A sin(ω t) ⊥ λ ≥ 0: a ball above a table that may move.
struct BallOnTable {
  double g = 9.81, A = 0, omega = 0;
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - x[1];
    r[1] = xdot[1] - (lambda[0] - g);
  }
  void output(const auto& t, const auto& x, const auto&, auto& w) const {
    w[0] = x[0] - A * sin(omega * t);
  }
};

/// Balls in a row under a force per mass, x = (positions, velocities); contacts between neighbours
/// and, if there is a floor, between the floor and the first.
struct Row {
  std::vector<double> masses;
  bool floor = false;
  double force = 0;
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    const std::size_t n = masses.size(), shift = floor ? 1 : 0;
    for (std::size_t k = 0; k < n; ++k) {
      r[k] = xdot[k] - x[n + k];
      auto sum = masses[k] * xdot[n + k] - masses[k] * force;
      if (k > 0 || floor) sum = sum - lambda[k + shift - 1];
      if (k + 1 < n) sum = sum + lambda[k + shift];
      r[n + k] = sum;
    }
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const {
    const std::size_t shift = floor ? 1 : 0;
    if (floor) w[0] = 1.0 * x[0];
    for (std::size_t k = 0; k + 1 < masses.size(); ++k) w[k + shift] = x[k + 1] - x[k];
  }
  [[nodiscard]] Dcs system() const {
    const int n = static_cast<int>(masses.size());
    std::vector<std::string> names;
    if (floor) names.emplace_back("floor");
    for (int k = 1; k < n; ++k) names.push_back("contact " + std::to_string(k));
    return make_dcs(*this, 2 * n, contacts(names));
  }
};

/// M v̇ = f + Gᵀ λ with constant M, f and gaps G q + c, x = (q, v).
struct FlatContacts {
  Matrix M, G;
  Vector f, c;
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    const auto n = static_cast<std::size_t>(f.size());
    for (std::size_t k = 0; k < n; ++k) {
      const auto i = static_cast<Eigen::Index>(k);
      r[k] = xdot[k] - x[n + k];
      auto sum = M(i, 0) * xdot[n];
      for (std::size_t l = 1; l < n; ++l)
        sum = sum + M(i, static_cast<Eigen::Index>(l)) * xdot[n + l];
      sum = sum - f[i];
      for (Eigen::Index a = 0; a < G.rows(); ++a)
        sum = sum - G(a, i) * lambda[static_cast<std::size_t>(a)];
      r[n + k] = sum;
    }
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const {
    for (Eigen::Index a = 0; a < G.rows(); ++a) {
      auto sum = G(a, 0) * x[0] + c[a];
      for (Eigen::Index k = 1; k < G.cols(); ++k)
        sum = sum + G(a, k) * x[static_cast<std::size_t>(k)];
      w[static_cast<std::size_t>(a)] = sum;
    }
  }
  [[nodiscard]] Dcs system() const {
    std::vector<std::string> names;
    for (Eigen::Index a = 0; a < G.rows(); ++a) names.push_back("plane " + std::to_string(a + 1));
    return make_dcs(*this, static_cast<int>(2 * f.size()), contacts(names));
  }
  [[nodiscard]] double energy(const Vector& x) const {
    const auto q = x.head(f.size()), v = x.tail(f.size());
    return 0.5 * v.dot(M * v) - f.dot(q);
  }
};

/// A pendulum of length 1 and mass 1 that hangs from a cart of mass 2; the cart has a wall at 0.
/// x = (s, φ, ṡ, φ̇). The rows stand in odd order and have factors.
struct CartWithPendulum {
  double first = 1, second = 1;  // factors of the rows
  bool swapped = false;
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    const auto cart = 3.0 * xdot[2] + cos(x[1]) * xdot[3] - sin(x[1]) * x[3] * x[3] - lambda[0];
    const auto bob = cos(x[1]) * xdot[2] + xdot[3] + 9.81 * sin(x[1]);
    r[0] = swapped ? second * bob : first * cart;
    r[1] = xdot[1] - x[3];
    r[2] = swapped ? first * cart : second * bob;
    r[3] = 2.0 * xdot[0] - 2.0 * x[2];
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const { w[0] = 1.0 * x[0]; }
};

/// A mass between a wall and a piston that comes nearer.
struct Squeezed {
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - x[1];
    r[1] = xdot[1] - lambda[0] + lambda[1];
  }
  void output(const auto& t, const auto& x, const auto&, auto& w) const {
    w[0] = x[0] - t;
    w[1] = 0.5 - x[0];
  }
};

/// Two coupled velocities, a wall in the first direction.
struct Gyroscope {
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - x[2];
    r[1] = xdot[1] - x[3];
    r[2] = xdot[2] - x[3] - lambda[0];
    r[3] = xdot[3] + x[2];
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const { w[0] = 1.0 * x[0]; }
};

/// A point mass under gravity inside a circle of radius 1, x = (q, v).
struct Bowl {
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - x[2];
    r[1] = xdot[1] - x[3];
    r[2] = xdot[2] + 2.0 * x[0] * lambda[0];
    r[3] = xdot[3] + 9.81 + 2.0 * x[1] * lambda[0];
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const {
    w[0] = 1.0 - x[0] * x[0] - x[1] * x[1];
  }
};

}  // namespace perp::test

#pragma once

#include <cmath>
#include <cstddef>

/// Small systems with laws, as structs (see make_dcs).
namespace switching_systems {

/// A ball on a floor: w = height, λ = force.
struct Ball {
  double g = 9.81;
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - x[1];
    r[1] = xdot[1] + g - lambda[0];
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const { w[0] = x[0]; }
};

/// w = x^power, ẋ = 1, ẏ = λ.
struct Touch {
  double power = 4;
  void residual(const auto&, const auto& xdot, const auto&, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - 1;
    r[1] = xdot[1] - lambda[0];
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const { w[0] = pow(x[0], power); }
};

/// Two velocities that stick at 0.2 and 0.4 (Dieci and Lopez' block on two surfaces).
struct TwoSurfaces {
  static auto friction(const auto& v, double below, double above, const auto& s) {
    return 0.5 * (1 - s) / (below - v) - 0.5 * (1 + s) / (above + v);
  }
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - x[1];
    r[1] = xdot[1] + x[0] - friction(x[1], 1.2, 0.8, lambda[0]);
    r[2] = xdot[2] + x[0] - friction(x[2], 1.4, 0.6, lambda[1]);
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const {
    w[0] = x[1] - 0.2;
    w[1] = x[2] - 0.4;
  }
};

/// ẋ₁ = c − l₁, ẋ₂ = p t − l₂ − 0.1, ẋ₃ = l₁ l₂ x₃ + p, l ∈ sign(x).
struct Bilinear {
  double c = 0.3, p = 0.2;
  void residual(const auto& t, const auto& xdot, const auto& x, const auto& l, auto& r) const {
    r[0] = xdot[0] - (c - l[0]);
    r[1] = xdot[1] - (p * t - l[1] - 0.1);
    r[2] = xdot[2] - (l[0] * l[1] * x[2] + p);
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const {
    w[0] = x[0];
    w[1] = x[1];
  }
};

/// ẋ₃ = (x₁ > 0) xor (x₂ > 0), ẋ₁ = ẋ₂ = 1.
struct ExclusiveOr {
  void residual(const auto&, const auto& xdot, const auto&, const auto& s, auto& r) const {
    r[0] = xdot[0] - 1;
    r[1] = xdot[1] - 1;
    r[2] = xdot[2] - (s[0] + s[1] - 2 * s[0] * s[1]);
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const {
    w[0] = x[0];
    w[1] = x[1];
  }
};

/// A chain of blocks on a floor with dry friction, springs between them, a force on the first.
struct Chain {
  int blocks = 8;
  double force = 0.5;
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    for (int i = 0; i < blocks; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const auto v = static_cast<std::size_t>(blocks + i);
      r[at] = xdot[at] - x[v];
      auto sum = xdot[v] + lambda[at];
      if (i == 0) sum -= force;
      if (i > 0) sum += x[at] - x[at - 1];
      if (i + 1 < blocks) sum += x[at] - x[at + 1];
      r[v] = sum;
    }
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const {
    for (int i = 0; i < blocks; ++i)
      w[static_cast<std::size_t>(i)] = x[static_cast<std::size_t>(blocks + i)];
  }
};

}  // namespace switching_systems

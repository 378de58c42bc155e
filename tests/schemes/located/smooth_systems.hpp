#pragma once

#include <cmath>

#include <perp/core/recorder.hpp>
#include <perp/schemes/located/radau/radau.hpp>

/// Systems whose modes have exact solutions, and runs in one mode.
namespace smooth_systems {

using namespace perp;

/// ẋ = 6 |x|² (-x₂, x₁): turns on the unit circle.
struct Ode {
  static constexpr int n = 2, differential = 2;
  static Dcs system() { return make_dcs(Ode{}, n); }
  static Mode mode() { return {}; }
  static Vector guess() { return Vector{{1, 0}}; }
  static Vector exact(double t) { return Vector{{std::cos(6 * t), std::sin(6 * t)}}; }
  void residual(const auto&, const auto& xdot, const auto& x, const auto&, auto& r) const {
    const auto speed = 6 * (x[0] * x[0] + x[1] * x[1]);
    r[0] = xdot[0] + speed * x[1];
    r[1] = xdot[1] - speed * x[0];
  }
};

/// ẋ₁ = -4 z, ẋ₂ = 4 x₁, and z = x₂ by a cubic equation.
struct IndexOne {
  static constexpr int n = 3, differential = 2;
  static Dcs system() { return make_dcs(IndexOne{}, n); }
  static Mode mode() { return {}; }
  static Vector guess() { return Vector{{1, 0, 0.6}}; }
  static Vector exact(double t) {
    return Vector{{std::cos(4 * t), std::sin(4 * t), std::sin(4 * t)}};
  }
  void residual(const auto&, const auto& xdot, const auto& x, const auto&, auto& r) const {
    r[0] = xdot[0] + 4 * x[2];
    r[1] = xdot[1] - 4 * x[0];
    r[2] = x[2] * x[2] * x[2] + x[2] - x[1] * x[1] * x[1] - x[1];
  }
};

/// [RAB] eq. (9) with A of eq. (37), sliding on x₁ = 0: index 2, unknowns (x₁, x₂, z, λ).
struct Variant37 {
  static constexpr int n = 3, differential = 2;
  static Dcs system() { return make_dcs(Variant37{}, n, {abs_plus_sign()}); }
  static Mode mode() { return {1}; }
  static Vector guess() { return Vector{{0, 0, 7, -3}}; }
  static Vector exact(double t) {
    return Vector{{0, std::exp(t / 2) - 1, std::exp(t / 2), std::exp(t / 2) - 1}};
  }
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - (x[1] - x[2] + 1);
    r[1] = xdot[1] - (-x[0] + 0.5 * x[2]);
    r[2] = x[1] - lambda[0];
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const { w[0] = x[0]; }
};

/// Sliding on the unit circle with λ = -sin t; the angle grows by 1 + x₃ = 1 + cos t. Index 2.
struct Circle {
  static constexpr int n = 3, differential = 3;
  static Dcs system() { return make_dcs(Circle{}, n, {sign()}); }
  static Mode mode() { return {1}; }
  static Vector guess() { return Vector{{1, 0, 1, 0.4}}; }
  static Vector exact(double t) {
    const double angle = t + std::sin(t);
    return Vector{{std::cos(angle), std::sin(angle), std::cos(t), -std::sin(t)}};
  }
  void residual(const auto& t, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    const auto radial = lambda[0] + sin(t);
    r[0] = xdot[0] + (1 + x[2]) * x[1] + radial * x[0];
    r[1] = xdot[1] - (1 + x[2]) * x[0] + radial * x[1];
    r[2] = xdot[2] - lambda[0] - 0.3 * (x[2] - cos(t));
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const {
    w[0] = x[0] * x[0] + x[1] * x[1] - 1;
  }
};

/// Fully implicit: ẋ stands in products, and H_ẏ is singular in a direction that turns with x. With
/// z₁ = x₁ + x₃³ = cos 6t and x₂ = sin 6t:
///     (2 + x₂) (ż₁ + 6 |z|² x₂) = 0,   (3 - z₁) (ẋ₂ - 6 |z|² z₁) = 0,   0 = 2 x₃ - sin(x₂)
struct Implicit {
  static constexpr int n = 3, differential = 3;
  static Dcs system() { return make_dcs(Implicit{}, n); }
  static Mode mode() { return {}; }
  static Vector guess() { return Vector{{1, 0, 0}}; }
  static Vector exact(double t) {
    const double x3 = std::sin(std::sin(6 * t)) / 2;
    return Vector{{std::cos(6 * t) - x3 * x3 * x3, std::sin(6 * t), x3}};
  }
  void residual(const auto&, const auto& xdot, const auto& x, const auto&, auto& r) const {
    const auto z = x[0] + x[2] * x[2] * x[2];
    const auto zdot = xdot[0] + 3 * x[2] * x[2] * xdot[2];
    const auto speed = 6 * (z * z + x[1] * x[1]);
    r[0] = (2 + x[1]) * (zdot + speed * x[1]);
    r[1] = (3 - z) * (xdot[1] - speed * z);
    r[2] = 2 * x[2] - sin(x[1]);
  }
};

/// Van der Pol's equation: stiff, with jumps.
struct VanDerPol {
  double epsilon = 1e-6;
  void residual(const auto&, const auto& xdot, const auto& x, const auto&, auto& r) const {
    r[0] = xdot[0] - x[1];
    r[1] = epsilon * xdot[1] - ((1 - x[0] * x[0]) * x[1] - x[0]);
  }
};

/// Steps of one length.
inline Vector fixed_steps(ModeFlow& flow, int stages, const Vector& y, double end, int steps) {
  Radau radau(flow, stages, {.rtol = 1e-8, .atol = Vector::Constant(flow.n(), 1e-8)});
  radau.start(0, y);
  for (int i = 0; i < steps; ++i) {
    if (radau.attempt(end / steps) != Radau::Outcome::solved)
      return Vector::Constant(y.size(), perp::nan);
    radau.accept();
  }
  return radau.y();
}

/// Runs with error control to `end`; every accepted step is shown to `observe`.
template <class Observe>
Vector controlled(Radau& radau, const Vector& y, double end, double h, Observe observe) {
  radau.start(0, y);
  for (int attempts = 0; radau.t() < end * (1 - 1e-14); ++attempts) {
    if (attempts > 1'000'000 || h < 1e-16 * end) return Vector::Constant(y.size(), perp::nan);
    const double length = std::min(h, end - radau.t());
    if (radau.attempt(length) != Radau::Outcome::solved) {
      h = length / 4;
      continue;
    }
    const double error = radau.error();
    h = radau.proposed_step();
    if (error > 1) continue;
    observe(radau);
    radau.accept();
  }
  return radau.y();
}

inline Vector controlled(ModeFlow& flow, int stages, double tolerance, const Vector& y, double end,
                         bool inside = true) {
  Radau radau(flow, stages,
              {.rtol = tolerance, .atol = Vector::Constant(flow.n(), tolerance), .inside = inside});
  return controlled(radau, y, end, 1e-3 * end, [](const Radau&) {});
}

inline double distance(const Vector& a, const Vector& b, int count) {
  const double largest = (a.head(count) - b.head(count)).cwiseAbs().maxCoeff();
  return std::isnan(largest) ? inf : largest;
}

}  // namespace smooth_systems

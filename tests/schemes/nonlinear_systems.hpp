#pragma once

#include <cmath>
#include <vector>

#include <perp/core/dcs.hpp>
#include <perp/core/recorder.hpp>

/// Nonlinear systems of the seeds, as structs.
namespace nonlinear_systems {

using perp::Dcs;
using perp::Vector;

/// [RAB] eq. (34), the relay form of (11'): 0 = x2 − (1 + x1) s, s ∈ sign(x1).
struct RelayForm {
  double B1 = -0.5, B2 = 1;
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - (1 + B1 * x[2]);
    r[1] = xdot[1] - B2 * x[2];
    r[2] = x[1] - (1 + x[0]) * lambda[0];
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const { w[0] = x[0]; }
};

/// ẋ = y − 3, 0 = if(x < 0, y, x): θ ∈ step(−x).
struct Branch {
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    r[0] = xdot[0] - (x[1] - 3);
    r[1] = lambda[0] * x[1] + (1 - lambda[0]) * x[0];
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const { w[0] = -x[0]; }
};

/// [IFDIFF], canonical example: two switches of x1 in a row.
struct Canonical {
  double p1 = 5.437;
  void residual(const auto& t, const auto& xdot, const auto& x, const auto& lambda,
                auto& r) const {
    r[0] = xdot[0] - (0.01 * t * t + x[1] * x[1] * x[1]);
    r[1] = xdot[1] - 5 * (lambda[0] - lambda[1]);  // 0, 5, 0 between the switches
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const {
    w[0] = x[0] - p1;
    w[1] = x[0] - (p1 + 0.5);
  }
};

/// [IFDIFF], stick-slip: a block on a belt whose friction falls with the relative velocity.
struct StickSlip {
  double k = 1, m = 1, Fs = 0.35, vb = 1, delta = 3;
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    const auto v = x[1] - vb;
    r[0] = xdot[0] - x[1];
    // λ = −1: slips backwards, 1: slips forwards
    r[1] = m * xdot[1] + k * x[0] -
           (0.5 * (1 - lambda[0]) * Fs / (1 - delta * v) -
            0.5 * (1 + lambda[0]) * Fs / (1 + delta * v));
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const { w[0] = x[1] - vb; }
};

/// [BJ] section 4 with the paired algebraic equations: (x1, x2, x3, y1, y2, y3, P, M_l, M_g).
struct SoftDrink {
  double F1 = 0.5, F2 = 7.5, rho_L = 50, rho_a = 16, V = 10, V_d = 2.25, T = 293, P_out = 1, X = 1,
         k_L = 2.5, k_G = 3, kappa_c = 0.433 / 4000, sigma = 1640, R = 0.0820574587;
  void residual(const auto&, const auto& xdot, const auto& x, const auto& lambda, auto& r) const {
    const auto reaction = kappa_c * x[0] * x[1] / V;
    const auto sum = x[7] + x[1] + x[2];
    const auto flow = x[3] + x[4] + x[5];
    r[0] = xdot[0] - (F1 - x[3] - reaction);
    r[1] = xdot[1] - (F2 - lambda[0] * x[4] - reaction);
    r[2] = xdot[2] - (reaction - lambda[0] * x[5]);
    r[3] = x[4] * sum - x[1] * flow;
    r[4] = x[5] * sum - x[2] * flow;
    r[5] = (1 - lambda[0]) * (x[3] - k_G * X * (x[6] - P_out)) +
           lambda[0] * (flow - k_L * X * (x[6] - P_out));
    r[6] = V - (x[0] * R * T / x[6] + x[1] / rho_L + x[2] / rho_a);
    r[7] = x[6] - sigma * x[7] / sum;
    r[8] = x[0] - (x[7] + x[8]);
  }
  void output(const auto&, const auto& x, const auto&, auto& w) const {
    w[0] = x[1] / rho_L + x[2] / rho_a - V_d;
  }
  static Vector start() { return Vector{{0.72, 95, 0, 3, 2, 0, 2.1, 0.1, 0.6}}; }
};

/// A ball under gravity that loses a share of its velocity at every impact, as a reset.
struct Ball {
  double g = 9.81;
  void residual(const auto&, const auto& xdot, const auto& x, const auto&, auto& r) const {
    r[0] = xdot[0] - x[1];
    r[1] = xdot[1] + g;
  }
};

inline Dcs bouncing_ball(double restitution) {
  Dcs system = perp::make_dcs(Ball{}, 2);
  perp::Tape& tape = system.tape;
  const int velocity = tape.input(system.variable_input(1));
  system.resets.push_back(
      {.name = "impact",
       .condition = tape.input(system.variable_input(0)),
       .direction = -1,
       .variables = {1},
       .values = {tape.apply(perp::Operation::multiply, tape.constant(-restitution), velocity)}});
  return system;
}

}  // namespace nonlinear_systems

#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <perp/models/language/read_model.hpp>

/// Switching systems with solutions in closed form, with sensitivities to everything.
namespace switching_solutions {

using perp::Matrix;
using perp::Model;
using perp::Vector;
using Real = long double;

/// The differential variables at T and the times of the events.
struct Solution {
  std::vector<Real> x;
  std::vector<Real> events;
};

struct Problem {
  std::string name;
  std::string text;     ///< of the model
  std::vector<Real> q;  ///< starts of the differential variables, then parameters
  int differential;     ///< variables; they come first
  Real segment;         ///< length between two events, and to the end
  int segments;
  std::function<Solution(const std::vector<Real>& q, Real T)> exact;

  [[nodiscard]] double end() const { return static_cast<double>(segment * segments); }
};

/// Derivatives of the closed form by differences of order four in long double: exact to 1e-14.
struct Reference {
  Vector x, events;
  Matrix dx, dt;  ///< by q
};

inline Reference reference(const Problem& problem) {
  const Real T = problem.end();
  const auto all = [&](const std::vector<Real>& q) {
    Solution solution = problem.exact(q, T);
    solution.x.insert(solution.x.end(), solution.events.begin(), solution.events.end());
    return solution.x;
  };
  const std::vector<Real> value = all(problem.q);
  const auto rows = static_cast<Eigen::Index>(value.size());
  const auto columns = static_cast<Eigen::Index>(problem.q.size());
  const Eigen::Index n = problem.differential;
  Vector values(rows);
  Matrix slopes(rows, columns);
  for (Eigen::Index i = 0; i < rows; ++i)
    values[i] = static_cast<double>(value[static_cast<std::size_t>(i)]);
  for (Eigen::Index j = 0; j < columns; ++j) {
    constexpr Real d = 1e-5L;
    std::vector<std::vector<Real>> at;
    for (const int k : {-2, -1, 1, 2}) {
      std::vector<Real> q = problem.q;
      q[static_cast<std::size_t>(j)] += k * d;
      at.push_back(all(q));
    }
    for (std::size_t i = 0; i < value.size(); ++i)
      slopes(static_cast<Eigen::Index>(i), j) =
          static_cast<double>((8 * (at[2][i] - at[1][i]) - (at[3][i] - at[0][i])) / (12 * d));
  }
  return {values.head(n), values.tail(rows - n), slopes.topRows(n), slopes.bottomRows(rows - n)};
}

/// ṙ = r; turns with 2π within the unit circle and against it outside (nosnoc's oscillator, with T
/// = 2).
inline Problem oscillator() {
  return {"oscillator",
          R"toml(
[variables]
x1 = "exp(-1)"
x2 = 0
[model]
equations = [
  "der(x1) = x1 + 2*pi*sign(x1^2 + x2^2 - 1)*x2",
  "der(x2) = x2 - 2*pi*sign(x1^2 + x2^2 - 1)*x1",
]
[run]
t = [0, 2]
)toml",
          {std::exp(Real(-1)), 0},
          2,
          1,
          2,
          [](const std::vector<Real>& q, Real T) {
            const Real pi = 3.14159265358979323846264338L;
            const Real r = std::hypot(q[0], q[1]), t = -std::log(r);
            const Real angle = std::atan2(q[1], q[0]) + 4 * pi * t - 2 * pi * T;
            const Real R = r * std::exp(T);
            return Solution{{R * std::cos(angle), R * std::sin(angle)}, {t}};
          }};
}

/// A sliding arc on the unit circle: with u = log r,
///     u̇ = k t - λ,   θ̇ = ω + x₃,   ẋ₃ = λ,   λ ∈ sign(r² - 1):
/// u rises to 0 (entry), rests there with λ = k t until k t = 1 (exit, tangential), and rises on.
inline Problem arc() {
  return {"arc",
          R"toml(
[parameters]
k = 0.5
omega = 3
[variables]
x1 = "exp(-1.25)"
x2 = 0
x3 = 1
[model]
equations = [
  "der(x1) = (k*t - s)*x1 - (omega + x3)*x2",
  "der(x2) = (k*t - s)*x2 + (omega + x3)*x1",
  "der(x3) = s",
]
laws = ["s in sign(x1^2 + x2^2 - 1)"]
[run]
t = [0, 3]
)toml",
          {std::exp(Real(-1.25)), 0, 1, 0.5L, 3},
          3,
          1,
          3,
          [](const std::vector<Real>& q, Real T) {
            const Real u = std::log(std::hypot(q[0], q[1])), k = q[3], omega = q[4];
            const Real in = (-1 + std::sqrt(1 - 2 * k * u)) / k, out = 1 / k;
            const auto cubic = [](Real t) { return t * t * t; };
            // x₃ and θ phase by phase
            Real x3 = q[2], angle = std::atan2(q[1], q[0]);
            angle += (omega + x3) * in - in * in / 2;
            x3 -= in;
            const Real d = out - in;
            angle +=
                (omega + x3) * d + k * (cubic(out) / 3 - in * in * out + 2 * cubic(in) / 3) / 2;
            x3 += k * (out * out - in * in) / 2;
            const Real e = T - out;
            angle += (omega + x3) * e + e * e / 2;
            x3 += e;
            const Real R = std::exp(k * e * e / 2);
            return Solution{{R * std::cos(angle), R * std::sin(angle), x3}, {in, out}};
          }};
}

/// [RAB] eq. (9) with A of eq. (37): slides on x₁ = 0 with index 2 until x₂ = 1.
inline Problem variant37() {
  return {"variant37",
          R"toml(
[parameters]
B1 = -1
B2 = 0.5
a12 = 1
a21 = -1
[variables]
x1 = 0
x2 = 0
z = 0
[model]
equations = ["der(x1) = 1 + a12*x2 + B1*z", "der(x2) = a21*x1 + B2*z", "x2 = v"]
laws = ["v in abs_plus_sign(x1)"]
[run]
t = [0, 1]
)toml",
          {0, 0, -1, 0.5L, 1, -1},
          2,
          2 * std::log(Real(2)),
          2,
          [](const std::vector<Real>& q, Real T) {
            // A start beside x₁ = 0 moves onto it along B: x₂ gains -B₂/B₁ x₁.
            const Real B1 = q[2], B2 = q[3], a12 = q[4], a21 = q[5];
            const Real start = q[1] - B2 / B1 * q[0], kappa = -B2 * a12 / B1;
            const Real out = std::log((1 + a12) / (1 + a12 * start)) / kappa;
            const Real beta = a12 + B1 * (a12 - a21) / (B2 - B1);
            const Real alpha = (1 + a12) * (1 + B1 / (B2 - B1));
            const Real x1 = alpha * std::expm1(beta * (T - out)) / beta;
            return Solution{{x1, 1 + x1}, {out}};
          }};
}

}  // namespace switching_solutions

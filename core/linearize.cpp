#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include <perp/core/base/error.hpp>
#include <perp/core/dcs_evaluator.hpp>
#include <perp/core/linear/least_squares.hpp>
#include <perp/core/linearize.hpp>

namespace perp {
namespace {

/// z = (t, ẋ, x, λ)
Vector joined(double t, const ModeState& state) {
  Vector z(1 + state.xdot.size() + state.x.size() + state.lambda.size());
  z << t, state.xdot, state.x, state.lambda;
  return z;
}

/// (F, G) at z and their derivatives by z.
struct Linearization {
  Vector rows;
  Matrix J;
};

Linearization linearization(DcsEvaluator& evaluator, const Vector& z) {
  const int rows = evaluator.n() + evaluator.m();
  Linearization at{Vector::Zero(rows), Matrix::Zero(rows, evaluator.inputs())};
  std::vector<double> derivatives(evaluator.entries().size());
  evaluator.linearize(z.data(), at.rows.data(), derivatives.data());
  for (std::size_t k = 0; k < derivatives.size(); ++k)
    at.J(evaluator.entries()[k].row, evaluator.entries()[k].column) = derivatives[k];
  return at;
}

/// λ of a branch over w.
double multiplier(const Branch& branch, double w) {
  if (branch.b != 0) return (branch.c - branch.a * w) / branch.b;
  const Range& range = branch.lambda;
  if (std::isfinite(range.lower) && std::isfinite(range.upper))
    return (range.lower + range.upper) / 2;
  return std::isfinite(range.lower) ? range.lower : std::isfinite(range.upper) ? range.upper : 0;
}

}  // namespace

ModeState state_in_mode(const Dcs& system, double t, const Vector& x, const Mode& mode) {
  DcsEvaluator evaluator(system);
  const int n = system.n();
  const int m = system.m();
  ModeState state{Vector::Zero(n), x, Vector::Zero(m)};
  // Arguments may hold the multipliers of earlier laws.
  for (int i = 0; i < m; ++i) {
    Vector rows(n + m);
    evaluator.evaluate(joined(t, state).data(), rows.data());
    const Law& law = system.laws[static_cast<std::size_t>(i)];
    const int k = mode[static_cast<std::size_t>(i)];
    state.lambda[i] = multiplier(law.branches[static_cast<std::size_t>(k)], rows[n + i]);
  }
  const Linearization at = linearization(evaluator, joined(t, state));
  const Matrix E = at.J.block(0, 1, n, n);
  const Vector F = at.rows.head(n);
  if (E.allFinite() && F.allFinite()) state.xdot = -linear::least_norm_solution(E, F, linear::rounding_share);
  return state;
}

Lcs linearized(const Dcs& system, double t, const ModeState& state) {
  DcsEvaluator evaluator(system);
  const int n = system.n();
  const int m = system.m();
  const Linearization at = linearization(evaluator, joined(t, state));
  if (!at.J.rightCols(2 * n + m).allFinite() || !at.rows.allFinite())
    throw InvalidInput(
        fmt::format("the equations or their derivatives are not finite at t = {}", t));
  if (m > 0 && !at.J.block(n, 1, m, n).isZero(0))
    throw InvalidInput("the argument of a law depends on a derivative; expected variables only");
  Lcs lcs{.E = at.J.block(0, 1, n, n),
          .A = -at.J.block(0, 1 + n, n, n),
          .B = -at.J.block(0, 1 + 2 * n, n, m),
          .C = at.J.block(n, 1 + n, m, n),
          .D = at.J.block(n, 1 + 2 * n, m, m),
          .laws = system.laws};
  // 0 = F + ∂F/∂(ẋ, x, λ) · change, written out.
  const Vector b = lcs.E * state.xdot - lcs.A * state.x - lcs.B * state.lambda - at.rows.head(n);
  const Vector q = at.rows.tail(m) - lcs.C * state.x - lcs.D * state.lambda;
  lcs.b = b;
  lcs.q = q;
  return lcs;
}

}  // namespace perp

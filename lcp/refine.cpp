#include <cmath>
#include <cstddef>

#include <perp/core/branches.hpp>
#include <perp/core/linear/least_squares.hpp>
#include <perp/lcp/parametric/mode_equations.hpp>
#include <perp/lcp/refine.hpp>

namespace perp {
namespace {

/// The equations of one mode in scaled unknowns, rows divided by their largest coefficient.
struct ModeEquations {
  Matrix J;  // (p+m)×(p+m)
  Vector c;  // p+m
};

ModeEquations equations(const Mlcp& problem, const Mode& mode) {
  ModeEquations result{mode_matrix(problem, mode), -mode_constant(problem, mode)};
  for (Eigen::Index i = 0; i < result.c.size(); ++i) {
    const double size = result.J.row(i).cwiseAbs().maxCoeff();
    if (!(size > 0)) continue;
    result.J.row(i) /= size;
    result.c[i] /= size;
  }
  return result;
}

}  // namespace

Mode nearest_mode(const Mlcp& problem, const Vector& u, const Vector& lambda) {
  const Vector w = output(problem, u, lambda);
  Mode mode;
  for (int i = 0; i < problem.m(); ++i)
    mode.push_back(nearest_branch(problem.laws[static_cast<std::size_t>(i)], w[i], lambda[i]));
  return mode;
}

Solution refined(const Mlcp& problem, const Vector& u, const Vector& lambda, const Mode& mode) {
  const int p = problem.p();
  const int m = problem.m();
  Solution best{u, lambda, output(problem, u, lambda), mode, residual(problem, u, lambda)};
  if (p + m == 0 || !u.allFinite() || !lambda.allFinite()) return best;
  const Scaling scaling = equilibrate(problem);
  const ModeEquations mode_equations = equations(scaled(problem, scaling), mode);
  Vector scale(p + m);
  scale << scaling.u_scale, scaling.lambda_scale;
  Vector y(p + m);
  y << u, lambda;
  y = y.cwiseQuotient(scale);
  for (int round = 0; round < 2; ++round) {
    y -= linear::least_norm_solution(mode_equations.J, mode_equations.J * y + mode_equations.c, linear::rounding_share);
    const Vector point = y.cwiseProduct(scale);
    const double remains = residual(problem, point.head(p), point.tail(m));
    if (!(remains < best.residual)) continue;
    best.u = point.head(p);
    best.lambda = point.tail(m);
    best.residual = remains;
  }
  best.w = output(problem, best.u, best.lambda);
  return best;
}

}  // namespace perp

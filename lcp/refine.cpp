#include <cmath>
#include <cstddef>
#include <Eigen/QR>

#include <perp/lcp/refine.hpp>

namespace perp {
namespace {

/// The equations of one mode in scaled unknowns, rows divided by their largest coefficient.
struct ModeEquations {
  Matrix J;  // (p+m)×(p+m)
  Vector c;  // p+m
};

ModeEquations equations(const Mlcp& problem, const Mode& mode) {
  const int p = problem.p();
  const int m = problem.m();
  ModeEquations result{Matrix::Zero(p + m, p + m), Vector::Zero(p + m)};
  result.J.topLeftCorner(p, p) = problem.M11;
  result.J.topRightCorner(p, m) = problem.M12;
  result.c.head(p) = problem.q1;
  for (int i = 0; i < m; ++i) {
    const auto law = static_cast<std::size_t>(i);
    const Branch& branch = problem.laws[law].branches.at(static_cast<std::size_t>(mode[law]));
    result.J.row(p + i).head(p) = branch.a * problem.M21.row(i);
    result.J.row(p + i).tail(m) = branch.a * problem.M22.row(i);
    result.J(p + i, p + i) += branch.b;
    result.c[p + i] = branch.a * problem.q2[i] - branch.c;
  }
  for (int i = 0; i < p + m; ++i) {
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
  for (int i = 0; i < problem.m(); ++i) {
    int best = 0;
    double smallest = inf;
    Law single{"", {Branch{}}};
    const auto& branches = problem.laws[static_cast<std::size_t>(i)].branches;
    for (std::size_t k = 0; k < branches.size(); ++k) {
      single.branches[0] = branches[k];
      const double away = distance(single, w[i], lambda[i]);
      if (away < smallest) {
        smallest = away;
        best = static_cast<int>(k);
      }
    }
    mode.push_back(best);
  }
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
  const Eigen::CompleteOrthogonalDecomposition<Matrix> qr(mode_equations.J);
  Vector y(p + m);
  y << u, lambda;
  y = y.cwiseQuotient(scale);
  for (int round = 0; round < 2; ++round) {
    y -= qr.solve(Vector(mode_equations.J * y + mode_equations.c));
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

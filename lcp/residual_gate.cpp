#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include <perp/core/base/index.hpp>
#include <perp/core/linear/lu.hpp>
#include <perp/lcp/exact/exact_pieces.hpp>
#include <perp/lcp/exact/exact_scaling.hpp>
#include <perp/lcp/exact/sparse_elimination.hpp>
#include <perp/core/linear/least_squares.hpp>
#include <perp/lcp/parametric/mode_equations.hpp>
#include <perp/lcp/mode_point.hpp>
#include <perp/lcp/refine.hpp>
#include <perp/lcp/residual_gate.hpp>

namespace perp {
namespace {

constexpr int most_exact_unknowns = 64;  // of a mode that is solved in rational arithmetic

double half_ulp(double value) {
  const double size = std::abs(value);
  return (std::nextafter(size, inf) - size) / 2;
}

/// A number with the rounding of what it was made of.
struct Measured {
  long double value = 0;
  long double error = 0;
};

double beside(long double missing, long double error) {
  return missing > 0 ? static_cast<double>(missing / error) : 0;
}

/// q + Σ M_j y_j
template <class Left, class Right>
Measured row(const Left& left, const Right& right, double q, const Vector& u,
             const Vector& lambda) {
  Measured sum{q, 0};
  const auto add = [&](double coefficient, double y) {
    if (coefficient == 0) return;
    sum.value += static_cast<long double>(coefficient) * y;
    sum.error += std::abs(static_cast<long double>(coefficient)) * half_ulp(y);
  };
  for (Eigen::Index j = 0; j < u.size(); ++j) add(left[j], u[j]);
  for (Eigen::Index j = 0; j < lambda.size(); ++j) add(right[j], lambda[j]);
  return sum;
}

double beyond(const Range& range, const Measured& quantity) {
  return beside(std::max<long double>(range.lower - quantity.value, quantity.value - range.upper), quantity.error);
}

/// How far (w, λ) is beyond the ends of a branch; what its equation fixes does not count.
double beyond_ends(const Branch& branch, const Measured& w, const Measured& lambda) {
  return std::max(branch.b != 0 ? beyond(branch.w, w) : 0, branch.a != 0 ? beyond(branch.lambda, lambda) : 0);
}

double misfit(const Branch& branch, const Measured& w, const Measured& lambda) {
  const long double a = branch.a, b = branch.b;
  const double off = beside(std::abs(a * w.value + b * lambda.value - branch.c),
                            std::abs(a) * w.error + std::abs(b) * lambda.error + half_ulp(branch.c));
  return std::max(off, beyond_ends(branch, w, lambda));
}

/// r - K x in extended precision.
RealVector rest_of(const Matrix& K, const Vector& r, const RealVector& x) {
  RealVector rest = r.cast<long double>();
  for (Eigen::Index j = 0; j < x.size(); ++j)
    for (Eigen::Index i = 0; i < x.size(); ++i)
      if (K(i, j) != 0) rest[i] -= K(i, j) * x[j];
  return rest;
}

/// The equations of a mode, solved by one step of Newton's method and two that refine; what a branch fixes is fixed.
bool polish(const Mlcp& problem, const Mode& mode, Solution& point) {
  const Scaling scaling = equilibrate(problem);
  const Mlcp unit = scaled(problem, scaling);
  const Matrix K = mode_matrix(unit, mode);
  const Vector r = mode_constant(unit, mode);
  const int p = problem.p();
  Vector scale(K.cols());
  scale << scaling.u_scale, scaling.lambda_scale;
  RealVector x(K.cols());
  x << point.u.cast<long double>(), point.lambda.cast<long double>();
  x = x.cwiseQuotient(scale.cast<long double>());
  const linear::Lu lu(K);
  for (int step = 0; step < 3; ++step) {
    const RealVector rest = rest_of(K, r, x);
    x += lu.solve(Vector(rest.cast<double>())).cast<long double>();
  }
  const Vector y = x.cast<double>().cwiseProduct(scale);
  if (!y.allFinite()) return false;
  Vector u = y.head(p), lambda = y.tail(y.size() - p);
  for (Eigen::Index i = 0; i < lambda.size(); ++i) {
    const auto law = static_cast<std::size_t>(i);
    const Branch& branch = problem.laws[law].branches[static_cast<std::size_t>(mode[law])];
    if (branch.a == 0) lambda[i] = branch.c / branch.b;
  }
  if (!(misfit(problem, u, lambda) <= misfit_limit)) return false;
  point.u = u;
  point.lambda = lambda;
  point.mode = mode;
  return true;
}

/// Marks the values that are 0 for certain.
std::vector<char> marked_zeros(const std::vector<Bounded<double>>& values) {
  std::vector<char> zeros;
  for (const Bounded<double>& value : values) zeros.push_back(is_zero(value) ? 1 : 0);
  return zeros;
}

/// The only point of a mode, where bounds prove that it is regular and that its laws hold there.
bool solve_by_bounds(const Mlcp& problem, const Mode& mode, Solution& point) {
  const Scaling scaling = equilibrate(problem);
  const Mlcp unit = scaled(problem, scaling);
  if (!is_exactly_scaled(problem, unit)) return false;
  const AlgebraicProblem<Bounded<double>> bounded(unit);
  const auto y = sparse_point(bounded, mode);
  if (!y) return false;
  const auto branches = meeting_branches(bounded, mode, *y);
  if (!branches || count_modes(*branches, 1) == 0) return false;
  const auto doubles = proved_point(unit, mode, marked_zeros(*y));
  if (!doubles) return false;
  point.u = doubles->head(problem.p()).cwiseProduct(scaling.u_scale);
  point.lambda = doubles->tail(problem.m()).cwiseProduct(scaling.lambda_scale);
  point.mode = mode;
  return point.u.allFinite() && point.lambda.allFinite();
}

/// The vertex of the mode's solutions that is nearest to the point.
bool solve_exactly(const Mlcp& problem, const Mode& mode, Solution& point) {
  bool overflow = false;
  const AlgebraicProblem<Rational> exact(problem);
  const Generators<Rational> all = exact_generators(exact, mode, overflow);
  if (all.vertices.empty()) return false;
  const Matrix vertices = rounded({mode}, 0, all).vertices;
  Vector y(vertices.rows());
  y << point.u, point.lambda;
  Eigen::Index nearest = 0;
  (vertices.colwise() - y).colwise().squaredNorm().minCoeff(&nearest);
  point.u = vertices.col(nearest).head(problem.p());
  point.lambda = vertices.col(nearest).tail(problem.m());
  point.mode = mode;
  return point.u.allFinite() && point.lambda.allFinite();
}

/// The laws that are beyond the ends of their branches at a point of a mode, by more than its rounding.
std::vector<int> laws_beyond(const Mlcp& problem, const Mode& mode, const ModePoint& point) {
  std::vector<int> laws;
  for (int i = 0; i < problem.m(); ++i) {
    const Branch& branch = problem.laws[at(i)].branches[at(mode[at(i)])];
    const Measured w = row(problem.M21.row(i), problem.M22.row(i), problem.q2[i], point.u, point.lambda);
    if (beyond_ends(branch, w, {point.lambda[i], half_ulp(point.lambda[i])}) > misfit_limit) laws.push_back(i);
  }
  return laws;
}

/// The mode that is reached from `mode` by moving all laws that are beyond the ends of their branches, by however
/// little, to their nearest ones, until none is. Tolerances of solvers hide such laws where unknowns are of many
/// sizes, as in a cascade. Empty: the moves come back to a mode that was left.
Mode mended_mode(const Mlcp& problem, Mode mode) {
  const Mlcp unit = scaled(problem, equilibrate(problem));
  std::set<Mode> left;
  while (left.insert(mode).second) {
    const ModePoint point = point_of_mode(unit, mode, 0);
    if (point.violation == inf) break;
    const std::vector<int> laws = laws_beyond(unit, mode, point);
    if (laws.empty()) return mode;
    const Vector w = output(unit, point.u, point.lambda);
    for (const int i : laws) mode[at(i)] = next_branch(unit, mode, point, w, i);
  }
  return {};
}

}  // namespace

double misfit(const Mlcp& problem, const Vector& u, const Vector& lambda) {
  if (!u.allFinite() || !lambda.allFinite()) return inf;
  double largest = 0;
  for (int i = 0; i < problem.p(); ++i) {
    const Measured sum = row(problem.M11.row(i), problem.M12.row(i), problem.q1[i], u, lambda);
    largest = std::max(largest, beside(std::abs(sum.value), sum.error));
  }
  for (int i = 0; i < problem.m(); ++i) {
    const Measured w = row(problem.M21.row(i), problem.M22.row(i), problem.q2[i], u, lambda);
    double least = inf;
    for (const Branch& branch : problem.laws[static_cast<std::size_t>(i)].branches)
      least = std::min(least, misfit(branch, w, {lambda[i], half_ulp(lambda[i])}));
    largest = std::max(largest, least);
  }
  return largest;
}

bool settle(const Mlcp& problem, Solution& point) {
  std::vector<Mode> modes;
  if (point.mode.size() == problem.laws.size()) modes.push_back(point.mode);
  if (const Mode near = nearest_mode(problem, point.u, point.lambda);
      modes.empty() || near != modes.front())
    modes.push_back(near);
  const auto any = [&](const auto& method) {
    return std::any_of(modes.begin(), modes.end(),
                       [&](const Mode& mode) { return method(problem, mode, point); });
  };
  // By rounding alone a point may seem to hold that does not: it counts where nothing else is feasible.
  const bool is_small = problem.p() + problem.m() <= most_exact_unknowns;
  const auto settles = [&] { return any(solve_by_bounds) || (is_small ? any(solve_exactly) : any(polish)); };
  bool settled = settles();
  if (!settled) {
    modes = {mended_mode(problem, modes.front())};
    settled = !modes.front().empty() && settles();
  }
  point.w = output(problem, point.u, point.lambda);
  point.residual = residual(problem, point.u, point.lambda);
  return settled;
}

std::string describe_misfit(const Mlcp& problem, const Solution& point) {
  const double rows = misfit(problem, point.u, point.lambda);
  if (rows <= misfit_limit)
    return fmt::format("its rows hold (residual {:.2g} times its rounding), but no mode near it has a solution", rows);
  return fmt::format("residual {:.2g} times its rounding", rows);
}

}  // namespace perp

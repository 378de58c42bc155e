#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/core/branches.hpp>
#include <perp/core/linear/lu.hpp>
#include <perp/lcp/mode_point.hpp>
#include <perp/lcp/parametric/mode_equations.hpp>

namespace perp {
namespace {

constexpr double contradicted = 1e-9;  ///< of a row's terms: its equation does not hold

/// Does every row of K y = r hold beside its own terms? A singular mode whose equations contradict each other
/// has no such point.
bool solves(const Matrix& K, const Vector& y, const Vector& r) {
  if (!y.allFinite()) return false;
  const Vector terms = K.cwiseAbs() * y.cwiseAbs() + r.cwiseAbs();
  return ((K * y - r).cwiseAbs().array() <= contradicted * terms.array()).all();
}

/// The solution by a factorization, corrected once. What the correction takes for its own rounding is 0: an
/// equation that says so is met by nothing else.
template <class Factorization>
Vector corrected(const Factorization& lu, const Matrix& K, const Vector& r) {
  Vector y = lu.solve(r);
  if (!y.allFinite()) return y;
  const Vector change = lu.solve(Vector(r - K * y));
  for (Eigen::Index j = 0; j < y.size(); ++j) y[j] = 2 * std::abs(change[j]) >= std::abs(y[j]) ? 0 : y[j] + change[j];
  return y;
}

/// K⁻¹ r, or one solution where K is singular; nothing where its equations contradict each other. Complete
/// pivoting is for matrices that look singular.
std::optional<Vector> solution(const Matrix& K, const Vector& r) {
  const linear::Lu lu(K);
  const Vector pivots = lu.factors().diagonal().cwiseAbs();
  const double rounding = static_cast<double>(K.rows()) * unit_roundoff;
  if (pivots.size() == 0 || pivots.minCoeff() > rounding * pivots.maxCoeff()) {
    Vector y = corrected(lu, K, r);
    if (solves(K, y, r)) return y;
  }
  Vector y = corrected(linear::FullLu(K), K, r);
  if (!solves(K, y, r)) return std::nullopt;
  return y;
}

}  // namespace

ModePoint point_of_mode(const Mlcp& problem, const Mode& mode, double tolerance) {
  ModePoint point;
  const Matrix K = mode_matrix(problem, mode);
  const std::optional<Vector> y = solution(K, mode_constant(problem, mode));
  if (!y) return point;
  point.u = y->head(problem.p());
  point.lambda = y->tail(problem.m());
  const Vector w = output(problem, point.u, point.lambda);
  std::vector<std::pair<double, int>> violated;
  point.violation = 0;
  for (int i = 0; i < problem.m(); ++i) {
    const Law& law = problem.laws[at(i)];
    const Law branch{law.name, {law.branches[at(mode[at(i)])]}, false};
    const double miss = distance(branch, w[i], point.lambda[i]);
    if (miss > tolerance) violated.emplace_back(-miss, i);
    point.violation += miss;
  }
  std::sort(violated.begin(), violated.end());
  for (const auto& [miss, i] : violated) point.violated.push_back(i);
  return point;
}

long most_points(const Mlcp& problem, long most) {
  constexpr double most_products = 1e9;  // n³ for a mode of n unknowns: up to 36 unknowns 20,000 modes as ever
  constexpr double least = 100;          // active sets of problems that they serve for end sooner
  const double n = problem.p() + problem.m();
  return static_cast<long>(std::min(static_cast<double>(most), std::max(least, most_products / (n * n * n))));
}

int next_branch(const Mlcp& problem, const Mode& mode, const ModePoint& point, const Vector& w, int law) {
  return nearest_branch(problem.laws[at(law)], w[law], point.lambda[law], mode[at(law)]);
}

}  // namespace perp

#include <fmt/format.h>
#include <algorithm>
#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <vector>

#include <perp/lcp/certificate.hpp>

namespace perp {
namespace {

struct Point {
  double w, lambda;
};

/// Ends of a branch, infinite ones at a large finite distance: enough to compare directions and
/// order.
std::vector<Point> ends(const Branch& branch) {
  constexpr double far = 1e150;  // stands for infinity
  const auto clip = [&](double value) { return std::clamp(value, -far, far); };
  if (branch.b == 0)
    return {{branch.c / branch.a, clip(branch.lambda.lower)},
            {branch.c / branch.a, clip(branch.lambda.upper)}};
  const Range range = w_range(branch);
  std::vector<Point> points;
  for (const double w : {clip(range.lower), clip(range.upper)})
    points.push_back(
        {w, branch.a == 0 ? branch.c / branch.b : (branch.c - branch.a * w) / branch.b});
  return points;
}

}  // namespace

Monotonicity monotonicity(const Law& law) {
  std::vector<Point> points;
  for (const Branch& branch : law.branches)
    for (const Point& point : ends(branch)) points.push_back(point);
  bool rising = true, falling = true;
  for (const Point& p : points)
    for (const Point& q : points) {
      if (!(p.w < q.w)) continue;
      rising = rising && p.lambda <= q.lambda;
      falling = falling && p.lambda >= q.lambda;
    }
  return falling ? Monotonicity::falling : rising ? Monotonicity::rising : Monotonicity::neither;
}

bool has_at_most_one_solution(const Mlcp& problem) {
  const int p = problem.p(), m = problem.m();
  Matrix M = problem.M22;
  if (p > 0) {
    const Mlcp unit = scaled(problem, equilibrate(problem));
    Eigen::FullPivLU<Matrix> lu(unit.M11);
    lu.setThreshold(1e-12);
    if (!lu.isInvertible()) return false;
    M -= problem.M21 * problem.M11.fullPivLu().solve(problem.M12);
  }
  for (int i = 0; i < m; ++i) {
    const Monotonicity runs = monotonicity(problem.laws[static_cast<std::size_t>(i)]);
    if (runs == Monotonicity::neither) return false;
    if (runs == Monotonicity::rising) M.row(i) *= -1;
  }
  Matrix S = (M + M.transpose()) / 2;
  if (m == 0) return true;
  if (S.diagonal().minCoeff() <= 0) return false;
  const Vector d = S.diagonal().cwiseSqrt().cwiseInverse();
  S = d.asDiagonal() * S * d.asDiagonal();
  const Eigen::LLT<Matrix> factor(S - 1e-10 * m * Matrix::Identity(m, m));  // room for rounding
  return factor.info() == Eigen::Success;
}

std::string laws_in_blocks(int laws, std::size_t blocks) {
  return fmt::format("{} law{} in {} block{}", laws, laws == 1 ? "" : "s", blocks,
                     blocks == 1 ? "" : "s");
}

}  // namespace perp

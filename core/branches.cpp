#include <algorithm>
#include <cmath>

#include <perp/core/branches.hpp>

namespace perp {
namespace {

double gap(const Range& range, double value) {
  return std::max({range.lower - value, value - range.upper, 0.0});
}

/// Smallest max-norm correction that brings the scaled point (w, λ) onto the branch.
double distance(const Branch& branch, double w, double lambda, double w_scale,
                double lambda_scale) {
  if (branch.b == 0)
    return std::max(std::abs(w - branch.c / branch.a) / w_scale,
                    gap(branch.lambda, lambda) / lambda_scale);
  if (branch.a == 0)
    return std::max(std::abs(lambda - branch.c / branch.b) / lambda_scale,
                    gap(branch.w, w) / w_scale);
  // On the whole line the best point moves both coordinates by the same scaled amount; the distance
  // is convex along the line, so the best point of the segment is that one clamped to it.
  const double r = branch.a * w + branch.b * lambda - branch.c;
  const double delta = r / (std::abs(branch.a) * w_scale + std::abs(branch.b) * lambda_scale);
  const Range range = w_range(branch);
  const double w_best = std::clamp(w - std::copysign(w_scale, branch.a) * delta, range.lower,
                                   std::max(range.lower, range.upper));
  const double lambda_best = (branch.c - branch.a * w_best) / branch.b;
  return std::max(std::abs(w_best - w) / w_scale, std::abs(lambda_best - lambda) / lambda_scale);
}

}  // namespace

bool next_mode(Mode& mode, const std::vector<Law>& laws) {
  for (std::size_t i = mode.size(); i-- > 0;) {
    if (++mode[i] < static_cast<int>(laws[i].branches.size())) return true;
    mode[i] = 0;
  }
  return false;
}

Range w_range(const Branch& branch) {
  if (branch.b == 0) return {branch.c / branch.a, branch.c / branch.a};
  if (branch.a == 0) return branch.w;
  const double first = (branch.c - branch.b * branch.lambda.lower) / branch.a;
  const double second = (branch.c - branch.b * branch.lambda.upper) / branch.a;
  return {std::max(branch.w.lower, std::min(first, second)),
          std::min(branch.w.upper, std::max(first, second))};
}

bool is_vertical(const Branch& branch) { return branch.b == 0; }

bool is_sliding(const Law& law, int branch) {
  const Branch& inner = law.branches.at(static_cast<std::size_t>(branch));
  return law.branches.size() >= 3 && inner.b == 0 && std::isfinite(inner.lambda.lower) &&
         std::isfinite(inner.lambda.upper);
}

double distance(const Law& law, double w, double lambda, double w_scale, double lambda_scale) {
  double smallest = inf;
  for (const Branch& branch : law.branches)
    smallest = std::min(smallest, distance(branch, w, lambda, w_scale, lambda_scale));
  return smallest;
}

int nearest_branch(const Law& law, double w, double lambda, int except, double w_scale,
                   double lambda_scale) {
  int best = std::max(except, 0);
  double smallest = inf;
  for (int k = 0; k < static_cast<int>(law.branches.size()); ++k) {
    if (k == except) continue;
    const double d =
        distance(law.branches[static_cast<std::size_t>(k)], w, lambda, w_scale, lambda_scale);
    if (d < smallest) {
      smallest = d;
      best = k;
    }
  }
  return best;
}

}  // namespace perp

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include <perp/core/branches.hpp>

namespace perp {
namespace {

constexpr double share_of_end = 1e-11;  ///< nearer to an end of a branch, relative to it, is at it

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

bool is_bounded(const Law& law) {
  return std::all_of(law.branches.begin(), law.branches.end(), [](const Branch& branch) {
    return !is_vertical(branch) || (std::isfinite(branch.lambda.lower) && std::isfinite(branch.lambda.upper));
  });
}

double distance(const Law& law, double w, double lambda, double w_scale, double lambda_scale) {
  double smallest = inf;
  for (const Branch& branch : law.branches)
    smallest = std::min(smallest, distance(branch, w, lambda, w_scale, lambda_scale));
  return smallest;
}

namespace {

/// The nearest point of the box that holds the graph. What is far outside of it has one distance from all branches, to
/// rounding.
std::pair<double, double> nearest_in_box(const Law& law, double w, double lambda) {
  Range of_w{inf, -inf}, of_lambda{inf, -inf};
  for (const Branch& branch : law.branches) {
    const Range own_w = w_range(branch);
    const Range own_lambda =
        branch.a == 0 ? Range{branch.c / branch.b, branch.c / branch.b} : branch.lambda;
    of_w = {std::min(of_w.lower, own_w.lower), std::max(of_w.upper, own_w.upper)};
    of_lambda = {std::min(of_lambda.lower, own_lambda.lower), std::max(of_lambda.upper, own_lambda.upper)};
  }
  return {std::min(std::max(w, of_w.lower), of_w.upper),
          std::min(std::max(lambda, of_lambda.lower), of_lambda.upper)};
}

}  // namespace

int nearest_branch(const Law& law, double w, double lambda, int except, double w_scale,
                   double lambda_scale) {
  int best = std::max(except, 0);
  double smallest = inf;
  const auto distance_of = [&](int k, double at_w, double at_lambda) {
    return distance(law.branches[static_cast<std::size_t>(k)], at_w, at_lambda, w_scale, lambda_scale);
  };
  const auto is_nearer_in_box = [&](int k, int other) {
    const auto [at_w, at_lambda] = nearest_in_box(law, w, lambda);
    return distance_of(k, at_w, at_lambda) < distance_of(other, at_w, at_lambda);
  };
  for (int k = 0; k < static_cast<int>(law.branches.size()); ++k) {
    if (k == except) continue;
    const double d = distance_of(k, w, lambda);
    if (!(d < smallest) && !(d == smallest && d < inf && is_nearer_in_box(k, best))) continue;
    smallest = d;
    best = k;
  }
  return best;
}

int decided_branch(const Law& law, double w, double error) {
  int decided = -1;
  for (std::size_t k = 0; k < law.branches.size(); ++k) {
    const Range range = w_range(law.branches[k]);
    for (const double end : {range.lower, range.upper})
      if (std::isfinite(end) && !(std::abs(w - end) > error + share_of_end * std::abs(end)))
        return -1;
    if (!(w > range.lower && w < range.upper)) continue;
    if (decided >= 0) return -1;
    decided = static_cast<int>(k);
  }
  return decided;
}

namespace {

/// A name with [..] for the indices of elements of arrays: that of a branch of all laws of a family.
std::string without_indices(const std::string& name) {
  std::string text;
  for (std::size_t k = 0; k < name.size(); ++k) {
    const std::size_t end = name[k] == '[' ? name.find_first_not_of("0123456789, ", k + 1) : std::string::npos;
    const bool is_element = end != std::string::npos && end > k + 1 && name[end] == ']';
    text += is_element ? "[..]" : name.substr(k, 1);
    if (is_element) k = end;
  }
  return text;
}

}  // namespace

std::string describe_briefly(const std::vector<Law>& laws, const Mode& mode) {
  if (mode.size() <= most_laws_told) return describe(laws, mode);
  // In the order of the names.
  std::map<std::string, std::size_t> counts;
  for (std::size_t i = 0; i < mode.size(); ++i)
    if (!is_constraint(laws[i])) ++counts[without_indices(describe(laws[i].branches[static_cast<std::size_t>(mode[i])]))];
  std::string text;
  for (const auto& [branch, count] : counts) text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", count, branch);
  return text;
}

}  // namespace perp

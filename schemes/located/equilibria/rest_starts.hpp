#pragma once

#include <cmath>
#include <random>
#include <vector>

#include <perp/core/base/types.hpp>
#include <perp/core/law.hpp>
#include <perp/schemes/located/jets/consistent_jet.hpp>

namespace perp {

/// Starts of Newton's method: the given one first, then points that are spread at random around it,
/// the same ones for the same seed.
class RestStarts {
 public:
  /// `scales`: the units of x and λ that the equations tell; `nominal`: of x, what `reach` is told in. Every third point lies
  /// within the former.
  RestStarts(const Vector& x, const JetScales& scales, const Vector& nominal, double reach, unsigned seed)
      : x_(x), scales_(scales), nominal_(nominal), reach_(reach), random_(seed) {}

  struct Start {
    Vector x, lambda;
  };
  /// Start number `k` of a mode, asked for in order.
  Start operator()(int k, const std::vector<Law>& laws, const Mode& mode) {
    Start start{x(k), Vector::Zero(static_cast<Eigen::Index>(laws.size()))};
    for (std::size_t i = 0; i < laws.size(); ++i)
      start.lambda[static_cast<Eigen::Index>(i)] =
          lambda(k, laws[i].branches[static_cast<std::size_t>(mode[i])].lambda, scales_.lambda[static_cast<Eigen::Index>(i)]);
    return start;
  }

 private:
  Vector x(int k) {
    if (k == 0) return x_;
    Vector point = x_;
    const Vector& sizes = k % 3 == 0 ? scales_.x : nominal_;
    for (Eigen::Index j = 0; j < point.size(); ++j)
      point[j] += reach_ * (2 * share() - 1) * (sizes[j] + std::abs(x_[j]));
    return point;
  }

  /// λ in the middle of the range of a vertical branch, then anywhere in it; within a unit of its only end, or of 0 where
  /// it has none.
  double lambda(int k, const Range& range, double unit) {
    const double part = k == 0 ? 0.5 : share();
    if (std::isfinite(range.lower) && std::isfinite(range.upper))
      return range.lower + part * (range.upper - range.lower);
    if (std::isfinite(range.lower)) return range.lower + part * unit;
    return std::isfinite(range.upper) ? range.upper - part * unit : (2 * part - 1) * unit;
  }

  double share() {
    return static_cast<double>(random_()) / static_cast<double>(std::mt19937::max());
  }

  Vector x_;
  JetScales scales_;
  Vector nominal_;
  double reach_;
  std::mt19937 random_;
};

}  // namespace perp

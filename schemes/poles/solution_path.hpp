#pragma once

#include <algorithm>
#include <functional>

#include <perp/core/trajectory.hpp>

namespace perp {

/// Distances from a singularity, of the path: what has a pole changes from the far one to the wide one and
/// from there to the narrow one, at a pole of order one by 1/narrow where it changed by 1/wide before.
namespace pole_distance {
constexpr double far = 0x1p-4, wide = 0x1p-12, narrow = 0x1p-20;
}

/// The path of a solution from a to b, in the mode of b and with its multipliers.
struct SolutionPath {
  Step a, b;
  std::function<Vector(double s)> curve{};  ///< x at the share s of the path; empty: it is straight
  Vector tolerance{};  ///< by how much x may be wrong, empty: by its rounding
  bool continues = false;  ///< a is where the path that was looked at before has ended

  [[nodiscard]] double time(double s) const { return (1 - s) * a.t + s * b.t; }
  [[nodiscard]] Vector state(double s) const {
    if (curve) return curve(s);
    return (1 - s) * a.x + s * b.x;
  }
  /// ẋ of a straight one.
  [[nodiscard]] Vector rate() const { return (b.x - a.x) / (b.t - a.t); }
  /// ẋ at the share s of the path.
  [[nodiscard]] Vector rate(double s) const {
    if (!curve) return rate();
    const double from = std::max(s - pole_distance::wide, 0.0), to = std::min(s + pole_distance::wide, 1.0);
    return (curve(to) - curve(from)) / ((to - from) * (b.t - a.t));
  }
};

}  // namespace perp

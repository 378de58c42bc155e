#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace perp {

/// Of a sum of steps beside a product or a root: 8 ulps.
inline constexpr double rounding_of_times = 8 * std::numeric_limits<double>::epsilon();

/// Does nothing but the rounding of times lie between the two?
inline bool are_one_moment(double a, double b) {
  return std::abs(a - b) <= rounding_of_times * std::max(std::abs(a), std::abs(b));
}

/// Where t is in a course from start to end, in [0, 1].
inline double place_in(double start, double end, double t) { return t >= end ? 1 : std::max(0.0, (t - start) / (end - start)); }

}  // namespace perp

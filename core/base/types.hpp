#pragma once

#include <Eigen/Core>
#include <limits>

namespace perp {

using Matrix = Eigen::MatrixXd;  ///< dense, column major, run-time sizes
using Vector = Eigen::VectorXd;  ///< a column

inline constexpr double inf = std::numeric_limits<double>::infinity();  ///< no bound
/// Not known.
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double unit_roundoff = std::numeric_limits<double>::epsilon() / 2;  ///< u of a rounded operation

/// Closed interval [lower, upper] of the extended real line; the default is the whole line.
struct Range {
  double lower = -inf;  ///< may be -inf
  double upper = inf;   ///< may be inf

  friend bool operator==(const Range&, const Range&) = default;
};

/// Time interval of a run, in the model's unit of time.
struct Span {
  double start = 0;  ///< first time
  double end = 0;    ///< last time
};

}  // namespace perp

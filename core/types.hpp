#pragma once

#include <Eigen/Core>
#include <limits>

namespace perp {

using Matrix = Eigen::MatrixXd;  ///< dense, column major, run-time sizes
using Vector = Eigen::VectorXd;

inline constexpr double inf = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Closed interval [lower, upper] of the extended real line; the default is the whole line.
struct Range {
  double lower = -inf;
  double upper = inf;

  friend bool operator==(const Range&, const Range&) = default;
};

/// Time interval of a run, in the model's unit of time.
struct Span {
  double start = 0;
  double end = 0;
};

}  // namespace perp

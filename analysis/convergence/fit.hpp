#pragma once

#include <utility>
#include <vector>

#include <perp/core/base/types.hpp>

namespace perp {

/// Least squares of log(error) over log(h): error ≈ factor h^order.
struct OrderFit {
  double order = nan, factor = nan;
  int rows = 0;
  double off = 1;  ///< the largest factor between an error and the line

  [[nodiscard]] bool has_order() const { return order == order; }
};

/// Step lengths closer than this factor tell nothing about an order.
inline constexpr double least_ratio = 1.1;

/// Over pairs (h, error); fewer than two, or of step lengths that are all close, give no order.
OrderFit fit_order(const std::vector<std::pair<double, double>>& points);

}  // namespace perp

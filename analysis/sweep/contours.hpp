#pragma once

#include <array>
#include <vector>

namespace perp {

/// The multiples of a step of 1, 2 or 5 times a power of ten that lie within (low, high): some five to ten. Empty where low = high.
struct ContourLevels {
  double step = 0;
  std::vector<double> values{};
};
ContourLevels contour_levels(double low, double high);

/// Where a function on a grid takes a level: pieces of straight lines {x0, y0, x1, y1} by marching squares. `values`: of
/// (x[i], y[k]) at i y.size() + k, both increasing; a cell with a corner that is no number has none.
std::vector<std::array<double, 4>> contour(const std::vector<double>& x, const std::vector<double>& y,
                                           const std::vector<double>& values, double level);

}  // namespace perp

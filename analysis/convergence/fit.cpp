#include <algorithm>
#include <cmath>

#include <perp/analysis/convergence/fit.hpp>

namespace perp {

OrderFit fit_order(const std::vector<std::pair<double, double>>& points) {
  OrderFit result;
  result.rows = static_cast<int>(points.size());
  const auto [least, most] = std::minmax_element(points.begin(), points.end());
  if (points.size() < 2 || most->first < least_ratio * least->first) return result;
  const double n = result.rows;
  double mean_x = 0, mean_y = 0;
  for (const auto& [h, error] : points) {
    mean_x += std::log(h) / n;
    mean_y += std::log(error) / n;
  }
  double xx = 0, xy = 0;
  for (const auto& [h, error] : points) {
    const double x = std::log(h) - mean_x;
    xx += x * x;
    xy += x * (std::log(error) - mean_y);
  }
  result.order = xy / xx;
  result.factor = std::exp(mean_y - result.order * mean_x);
  for (const auto& [h, error] : points)
    result.off =
        std::max(result.off,
                 std::exp(std::abs(std::log(error / result.factor) - result.order * std::log(h))));
  return result;
}

}  // namespace perp

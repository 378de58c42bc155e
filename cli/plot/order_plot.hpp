#pragma once

#include <string>
#include <vector>

#include <perp/cli/plot/picture.hpp>

namespace perp::cli {

/// Errors over step lengths, both axes logarithmic, with the fitted line.
struct OrderPlot {
  std::string title;
  std::string error;  ///< what is measured
  struct Point {
    double h, error;
    bool fitted;  ///< counts in the fit
  };
  std::vector<Point> points;
  bool has_fit = false;
  double order = 0, factor = 0;  ///< error ≈ factor h^order
};

void draw_order(const Picture& picture, const OrderPlot& plot);

}  // namespace perp::cli

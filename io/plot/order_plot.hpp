#pragma once

#include <string>
#include <vector>

#include <perp/io/plot/picture.hpp>

namespace perp::io {

/// Errors over step lengths, both axes logarithmic, with fitted lines. Points that count for no
/// order are hollow; an error of 0 has no logarithm and no point.
struct OrderPlot {
  struct Point {
    double h, error;
    bool counts;
  };
  struct Curve {
    std::string label;
    std::size_t colour = 0, symbol = 0;  ///< numbers, from 0
    std::vector<Point> points{};
    bool has_order = false;
    double order = 0, factor = 0;  ///< error ≈ factor h^order
  };

  std::string title;
  std::string error;  ///< what is measured
  std::vector<Curve> curves{};
};

/// Throws InvalidInput where no point can be drawn, FileError.
void draw_order(const Picture& picture, const OrderPlot& plot);

}  // namespace perp::io

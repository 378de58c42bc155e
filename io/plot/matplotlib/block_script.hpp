#pragma once

#include <string>
#include <vector>

#include <perp/io/plot/picture.hpp>

namespace perp::io {

/// How matplotlib draws a block of a picture's data: what stands in its rows.
struct DrawnBlock {
  enum class Kind {
    line,     ///< x y; empty lines interrupt it
    dashed,   ///< the same
    arrows,   ///< x y dx dy
    jumps,    ///< the same, dotted, with a head in the middle
    hollow,   ///< x y: points
    full,     ///< the same
    joined,   ///< the same, with a line
    crosses,  ///< x: on the lower axis
    bars,     ///< x height
    cells     ///< x y value and the ends of the cell, x0 x1 y0 y1
  };
  Kind kind = Kind::line;
  std::string name{};  ///< in the legend; empty: not there
  std::string colour{};
  double size = 1;  ///< of lines their width, of points their diameter, of bars their width in x
};

/// What stands around the blocks.
struct DrawnAxes {
  std::string title{}, x_label{}, y_label{};
  bool is_x_logarithmic = false, is_y_logarithmic = false;
};

/// A picture of one pair of axes as a program for Python, which reads the data file beside it and draws by matplotlib.
/// `blocks`: one for each of the file, in its order.
std::string block_script(const DrawnAxes& axes, const std::vector<DrawnBlock>& blocks, const Picture& picture);

}  // namespace perp::io

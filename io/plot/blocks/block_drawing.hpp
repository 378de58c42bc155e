#pragma once

#include <string>
#include <vector>

#include <perp/core/base/types.hpp>
#include <perp/io/plot/picture.hpp>

namespace perp::io {

/// How a block of a picture's data is drawn: what stands in its rows. Panel k takes the y, or the pair of them, number k.
struct DrawnBlock {
  enum class Kind {
    line,     ///< x y; empty lines interrupt it
    dashed,   ///< the same
    arrows,   ///< x y dx dy
    jumps,    ///< the same, dotted, with a head in the middle
    hollow,   ///< x y: points
    full,     ///< the same
    joined,   ///< the same, with a line
    marks,    ///< x y: crosses
    crosses,  ///< x: on the lower axis
    bars,     ///< x height
    cells,    ///< x y value and the ends of the cell, x0 x1 y0 y1
    areas,    ///< x0 x1 y0 y1: filled, without a frame
    band,     ///< x low high: what lies between
    hatched,  ///< the same
    stripes   ///< x0 x1: over the whole height
  };
  Kind kind = Kind::line;
  std::string name{};  ///< in the legend; empty: not there
  std::string colour{};
  double size = 1;  ///< of lines and of the edges of bands their width, of points their diameter, of bars their width in x
  int panel = -1;             ///< where it is; -1: in all of them
  Range values{inf, -inf};    ///< of the colours of cells; empty: from the least to the greatest of its own
};

/// What stands around the blocks of a panel.
struct DrawnAxes {
  std::string x_label{}, y_label{};
  bool is_x_logarithmic = false, is_y_logarithmic = false;
  Range x{inf, -inf}, y{inf, -inf};  ///< what a page shows at first; empty: all that is drawn
};

/// A picture of blocks of data: one look for each, in the order of the file, and the panels below each other.
struct BlockDrawing {
  std::string title{};
  std::vector<DrawnAxes> panels{};
  std::vector<DrawnBlock> blocks{};
};

/// Draws `data` by the script of gnuplot and writes a program for matplotlib beside it; a page for a browser instead where
/// the picture is one. Throws FileError.
void draw_blocks(const Picture& picture, const BlockDrawing& drawing, const std::string& script, const std::string& data);

}  // namespace perp::io

#pragma once

#include <string>
#include <vector>

#include <perp/io/plot/phase/phase_drawing.hpp>
#include <perp/io/plot/picture.hpp>

namespace perp::io {

/// How matplotlib draws a block of the data of a phase picture.
struct PhaseBlock {
  enum class Kind { line, dashed, arrows, jumps, hollow, full };
  Kind kind = Kind::line;
  std::string name{};  ///< in the legend; empty: not there
  std::string colour{};
  double size = 1;  ///< of lines their width, of points their diameter
};

/// The phase picture as a program for Python, which reads the data file beside it and draws by matplotlib. `blocks`: one
/// for each of the file.
std::string phase_script(const std::string& title, const PhaseDrawing& drawing, const std::vector<PhaseBlock>& blocks,
                         const Picture& picture);

}  // namespace perp::io

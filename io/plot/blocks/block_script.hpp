#pragma once

#include <string>

#include <perp/io/plot/blocks/block_drawing.hpp>

namespace perp::io {

/// The picture as a program for Python, which reads the data file beside it and draws by matplotlib.
std::string block_script(const BlockDrawing& drawing, const Picture& picture);

}  // namespace perp::io

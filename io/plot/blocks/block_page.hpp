#pragma once

#include <string>

#include <perp/io/plot/blocks/block_drawing.hpp>

namespace perp::io {

/// The picture of blocks of data as a page for a browser.
std::string block_page(const BlockDrawing& drawing, const std::string& data);

}  // namespace perp::io

// Pictures of blocks of data: called where these are drawn.
#include <perp/io/plot/blocks/block_drawing.hpp>
#include <perp/io/plot/blocks/block_page.hpp>
#include <perp/io/plot/blocks/block_script.hpp>

namespace perp::io {

void draw_blocks(const Picture& picture, const BlockDrawing& drawing, const std::string& script, const std::string& data) {
  if (picture.is_page()) return picture.write_page(block_page(drawing, data));
  picture.draw(script, data);
  picture.write_matplotlib(block_script(drawing, picture));
}

}  // namespace perp::io

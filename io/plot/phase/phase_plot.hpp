#pragma once

#include <perp/io/plot/phase/phase_drawing.hpp>
#include <perp/io/plot/picture.hpp>

namespace perp::io {

/// Draws it: the paths coloured by mode, with arrows in the direction of time, above the layers.
void draw_phase(const Picture& picture, const RunPlot& plot, const PhaseDrawing& drawing);

}  // namespace perp::io

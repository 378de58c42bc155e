#pragma once

#include <perp/io/plot/picture.hpp>
#include <perp/models/language/hybrid/hybrid_structure.hpp>

namespace perp::io {

/// Draws which rows hold which unknowns, as the file has them and in the order of the sub-problems,
/// whose blocks are framed.
void draw_incidence(const Picture& picture, const HybridModel& model,
                    const HybridStructure& structure);

}  // namespace perp::io

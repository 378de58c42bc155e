#pragma once

#include <string>

#include <perp/analysis/maps/parameter_map.hpp>
#include <perp/io/plot/picture.hpp>

namespace perp::io {

/// Throws InvalidInput for more than two axes.
void check_drawable(const std::vector<MapAxis>& axes);

/// The regions of a map of one or two axes, each in a colour that the legend names, with its number
/// of points: the first axis horizontal. Of very many regions the largest have colours of their
/// own. `meaning` stands over the legend. Throws InvalidInput as `check_drawable`, FileError.
void draw_map(const Picture& picture, const ParameterMap& map, const std::string& title,
              const std::string& meaning);

}  // namespace perp::io

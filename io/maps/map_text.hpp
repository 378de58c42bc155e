#pragma once

#include <string>

#include <perp/analysis/maps/parameter_map.hpp>

namespace perp::io {

/// What is mapped over which grid, and how many points each region has.
std::string map_text(const Model& model, const MapRequest& request, const ParameterMap& map);

}  // namespace perp::io

#pragma once

#include <perp/analysis/maps/parameter_map.hpp>
#include <perp/io/provenance.hpp>

namespace perp::io {

/// What made a map: program, model and options as of every result, then under "map" the quantity,
/// the axes in their order (the last varies fastest), the states of --at, and of the answers the
/// columns, the regions with their numbers of points and how many points are not decided. `model`
/// has all options but the varied values and the states. The threads are not told: the map does not
/// depend on them.
/// `set` are the --set of the command line.
Json map_provenance(const MapRequest& request, const Model& model, const ParameterMap& map,
                    const std::vector<std::string>& set);

}  // namespace perp::io

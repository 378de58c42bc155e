#pragma once

#include <string>

#include <perp/cli/maps/parameter_map.hpp>

namespace perp::cli {

/// A map as CSV: the varied names, the numbers, the region in words; a row for each point. `file` -
/// is standard output. Throws FileError.
void write_csv(const std::string& file, const ParameterMap& map);

}  // namespace perp::cli

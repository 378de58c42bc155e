#pragma once

#include <string>
#include <vector>

#include <perp/analysis/maps/parameter_map.hpp>
#include <perp/io/provenance.hpp>

namespace perp::io {

/// A map as CSV: the varied names, the numbers, the region in words; a row for each point. `file` -
/// is standard output; beside another stands its provenance, `file`.json. Gives the names of the
/// files. Throws FileError.
std::vector<std::string> write_csv(const std::string& file, const ParameterMap& map,
                                   const Json& provenance);

}  // namespace perp::io

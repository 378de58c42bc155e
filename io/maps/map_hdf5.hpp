#pragma once

#include <string>

#include <perp/analysis/maps/parameter_map.hpp>
#include <perp/io/provenance.hpp>
#include <perp/models/language/model.hpp>

namespace perp::io {

/// A map as HDF5, over a grid of shape N_1×N_2×…:
///     /<name> [N_1×N_2×…] for each column, /region (an index from 0 into its attribute "regions"),
///     /axes/<name> [N_i], and as attributes of the root the version, the model, its hash and the
///     whole provenance as JSON (see map_provenance).
/// Throws FileError.
void write_hdf5(const std::string& file, const ParameterMap& map, const Model& model,
                const Json& provenance);

}  // namespace perp::io

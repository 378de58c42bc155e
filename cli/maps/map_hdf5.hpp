#pragma once

#include <string>

#include <perp/cli/maps/parameter_map.hpp>
#include <perp/models/model.hpp>

namespace perp::cli {

/// A map as HDF5, over a grid of shape N_1×N_2×…:
///     /<name> [N_1×N_2×…] for each column, /region (an index from 0 into its attribute "regions"),
///     /axes/<name> [N_i], and the model, its hash and the quantity as attributes of the root.
/// Throws FileError.
void write_hdf5(const std::string& file, const ParameterMap& map, const Model& model,
                const std::string& quantity);

}  // namespace perp::cli

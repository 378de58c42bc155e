#pragma once

#include <perp/cli/convergence/trajectory_file.hpp>

namespace perp::cli {

/// A file that Hdf5Writer wrote. Throws FileError, and InvalidInput where something is missing.
TrajectoryFile read_hdf5_trajectory(const std::string& file, const std::vector<std::string>& names);

}  // namespace perp::cli

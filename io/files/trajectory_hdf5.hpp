#pragma once

#include <perp/io/files/trajectory_file.hpp>

namespace perp::io {

/// A file that Hdf5Writer wrote. Throws FileError, and InvalidInput where something is missing.
RecordedRun read_hdf5_trajectory(const std::string& file, const std::vector<std::string>& names);

}  // namespace perp::io

#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/cli/convergence/grid_run.hpp>

namespace perp::cli {

/// A trajectory that was written before.
struct TrajectoryFile {
  States states;  ///< of the names asked for, NaN where a name is no column
  std::optional<std::vector<EventMark>> events;  ///< of an HDF5 file of `perp run`
};

/// Reads FILE.h5 of `perp run`, or CSV (header t and names, times that do not fall); of several
/// rows of one time the last one (after a jump). Throws InvalidInput with file and line, FileError.
TrajectoryFile read_trajectory(const std::string& file, const std::vector<std::string>& names);

/// Reads the events file of `perp run --events`. Throws InvalidInput with file and line, FileError.
std::vector<EventMark> read_events(const std::string& file);

}  // namespace perp::cli

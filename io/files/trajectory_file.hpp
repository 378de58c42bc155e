#pragma once

#include <optional>
#include <string>
#include <vector>

#include <perp/analysis/convergence/reference.hpp>

namespace perp::io {

/// Reads FILE.h5 of `perp run`, or CSV (header t and names, times that do not fall); of several
/// rows of one time the last one (after a jump). Throws InvalidInput with file and line, FileError.
RecordedRun read_trajectory(const std::string& file, const std::vector<std::string>& names);

/// Reads the events file of `perp run --events`. Throws InvalidInput with file and line, FileError.
std::vector<EventMark> read_events(const std::string& file);

}  // namespace perp::io

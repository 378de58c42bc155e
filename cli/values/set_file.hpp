#pragma once

#include <string>
#include <vector>

#include <perp/analysis/run/reading.hpp>

namespace perp::cli {

/// The lines NAME = VALUE of a file: what --set takes, one a line; # starts a comment, values may stand in quotes, and
/// behind a line [parameters], [variables] or [run] names are of that table. Messages about one name its file and line.
/// Throws InvalidInput with file, line and column; FileError.
std::vector<WrittenOverride> read_set_file(const std::string& file);

}  // namespace perp::cli

#pragma once

#include <string>
#include <vector>

#include <perp/core/types.hpp>

namespace perp::cli {

/// The row of a trajectory CSV (header t and names) at time t, within 1e-9 of the larger of 1 and
/// |t|; of several the last one (after a jump). Entries in the order of `names`, NaN where a name
/// is no column. Throws InvalidInput with file and line.
Vector csv_row_at(const std::string& file, double t, const std::vector<std::string>& names);

}  // namespace perp::cli

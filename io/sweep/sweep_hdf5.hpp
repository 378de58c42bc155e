#pragma once

#include <string>

#include <perp/io/sweep/sweep_table.hpp>

namespace perp::io {

/// A sweep of N runs as HDF5:
///     /runs/{run, <what is varied>, direction, status, message, t_end} [N]
///     /measures/<name> in the shape of the sweep: axes (one for all, `point`, where they stand side by side),
///         `draw`, `direction`, each a dimension scale beside it; NaN where a run was not made or has no value
///     /section/{run, direction, k, t, <variables>}, a row for each state
/// with the provenance as attributes of the root. The same sweep gives the same bytes. Throws FileError.
void write_sweep_hdf5(const std::string& file, const SweepTable& table);

}  // namespace perp::io

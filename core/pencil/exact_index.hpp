#pragma once

#include <optional>

#include <perp/core/pencil/pencil.hpp>

namespace perp {

/// `index_of` of the DAE of an Lcs in one mode (see `mode_dae`) without rounding: the shuffles are made in rational
/// numbers. About (n + m)³ operations for each differentiation. Throws InvalidInput.
std::optional<int> exact_index(const Lcs& lcs, const Mode& mode);

}  // namespace perp

#pragma once

#include <perp/lcp/mlcp.hpp>

namespace perp {

/// Is the scaled problem the same problem, nothing having over- or underflown?
bool is_exactly_scaled(const Mlcp& given, const Mlcp& scaled);

}  // namespace perp

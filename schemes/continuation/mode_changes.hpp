#pragma once

#include <vector>

#include <perp/core/law.hpp>

namespace perp {

/// Of modes the one that leaves the fewest branches with memory against `from`, then the fewest
/// others, then the first. `modes` must not be empty.
const Mode& least_change(const std::vector<Law>& laws, const Mode& from,
                         const std::vector<Mode>& modes);

/// The modes that differ from `mode` in the branches of some of these laws, the first four at most:
/// fewest changes first, an earlier law before the later ones.
std::vector<Mode> neighbours(const std::vector<Law>& laws, const Mode& mode,
                             const std::vector<int>& moving);

}  // namespace perp

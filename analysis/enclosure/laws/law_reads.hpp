#pragma once

#include <optional>
#include <vector>

namespace perp::enclosure {

/// Laws read the λ of others in their arguments, see `ModeSystem::argument_reads`: does no law come
/// back to itself by that? False too where it is not known what one of them reads.
bool reads_go_one_way(const std::vector<std::optional<std::vector<int>>>& reads);

}  // namespace perp::enclosure

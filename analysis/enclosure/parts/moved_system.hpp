#pragma once

#include <functional>

#include <perp/core/dcs.hpp>

namespace perp::enclosure {

/// The same system on a tape that holds no more than it needs, with input k as input `moved(k)`.
Dcs with_moved_inputs(const Dcs& system, const std::function<int(int)>& moved);

}  // namespace perp::enclosure

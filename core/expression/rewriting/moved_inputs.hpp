#pragma once

#include <functional>
#include <span>

#include <perp/core/tape/tape.hpp>

namespace perp {

/// The part of `tape` that `outputs` need, with input k as input `moved(k)`. `outputs` is rewritten
/// to the lines of the result.
Tape with_moved_inputs(const Tape& tape, const std::function<int(int)>& moved,
                       std::span<int> outputs);

}  // namespace perp

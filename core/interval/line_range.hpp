#pragma once

#include <span>

#include <perp/core/interval/interval.hpp>
#include <perp/core/tape/tape.hpp>

namespace perp::enclosure {

/// The range of a line of a tape, from those of the inputs and of earlier lines: contains every value for members of
/// these. None where some member has none, and of tables.
Interval range_of(const Instruction& line, std::span<const Interval> inputs, std::span<const Interval> lines);

}  // namespace perp::enclosure

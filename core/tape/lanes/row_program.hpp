#pragma once

#include <optional>
#include <span>
#include <vector>

#include <perp/core/tape/lanes/lane_program.hpp>

namespace perp {

/// The same as `lane_program` for a tape whose outputs share few lines: each output is computed by itself, as many
/// of one form together, on results that stay in the nearest cache. It is found in a time that each output costs
/// alone. None where outputs share many lines, or too few have one form.
std::optional<LaneProgram> row_program(const Tape& tape, std::span<const int> outputs, std::size_t split,
                                       const std::vector<char>& is_known);

}  // namespace perp

#pragma once

#include <vector>

#include <perp/analysis/enclosure/pieces/piece.hpp>

namespace perp::enclosure {

/// The middle of the set, followed to the end. What stands for one decimal number stays: of numbers
/// that are no doubles, their neighbours fulfil no equation exactly.
PieceResult follow_middle(const PieceTask& task, const Box& whole);

/// The widths of the hull of some points of the set, of which its middle has been followed, by row
/// and state or computed variable; empty: there are too many. They are no bounds: parts are
/// measured with them.
std::vector<std::vector<double>> reach_of(const PieceTask& task, const Box& whole,
                                          const PieceResult& middle);

/// How wide each state of the set is at most, from the start on, by what `reach_of` has found.
std::vector<double> widest_of(const Box& whole, const std::vector<std::vector<double>>& reach);

/// How many steps a part of the set may take from event to event: a multiple of those of its
/// middle. Where there are many more the part is too wide, in whatever state, and grows in ever
/// shorter steps; rows may be too far away to tell.
int most_steps_of(const PieceResult& middle, const EncloseOptions& options);

}  // namespace perp::enclosure

#pragma once

#include <perp/analysis/enclosure/dependent_starts.hpp>
#include <perp/analysis/enclosure/enclose.hpp>
#include <perp/analysis/enclosure/modes/state_space.hpp>
#include <perp/analysis/enclosure/kept/kept_pieces.hpp>

namespace perp::enclosure {

/// Encloses all solutions of a system without names (`without_names`) whose states are these:
/// `start` in pieces, each of which is followed by itself, and their union. See `enclose`.
Enclosure enclose_in_pieces(const Dcs& system, const StateSpace& space, const Box& start,
                            const Span& span, const EncloseOptions& options,
                            const ExactStart& exact, const DependentStarts& dependent,
                            const PieceKeeper& keeper);

}  // namespace perp::enclosure

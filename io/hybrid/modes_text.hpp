#pragma once

#include <string>

#include <perp/analysis/hybrid/hybrid_modes.hpp>
#include <perp/io/json.hpp>

namespace perp::io {

/// "g4 (x1 - u4)*(1 - z2 + z1) <= 0", "f1", "z1 leaves [0, 1]".
std::string row_text(const HybridModel& model, int row);

/// What `perp modes` prints.
std::string modes_table(const HybridModes& modes, const HybridContinuations& continuations);

/// The same for programs: continuations, chosen, decided_by, violated_by_previous, called, blocks,
/// excluded.
Json modes_to_json(const HybridModes& modes, const HybridContinuations& continuations);

}  // namespace perp::io

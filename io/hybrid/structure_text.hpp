#pragma once

#include <string>

#include <perp/analysis/hybrid/start_modes.hpp>
#include <perp/models/language/hybrid/hybrid_model.hpp>

namespace perp::io {

/// What `perp check` prints of binaries and constraints: the class of the rows, the sub-problems in
/// order, the incidence matrix, the faces of each binary, what a search costs.
std::string structure_text(const HybridModel& model);

/// How many modes continue from the start, which one is taken, and the index of each.
std::string start_modes_text(const HybridModel& model, const StartModes& start);

}  // namespace perp::io

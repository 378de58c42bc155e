#pragma once

#include <string>

#include <perp/models/language/hybrid/hybrid_model.hpp>

namespace perp::io {

/// What `perp check` prints of binaries and constraints: the class of the rows, the sub-problems in
/// order, the incidence matrix, the faces of each binary, what a search costs.
std::string structure_text(const HybridModel& model);

}  // namespace perp::io

#pragma once

#include <string>

#include <perp/analysis/enclosure/exact_model.hpp>

namespace perp::io {

/// Writes the steps of a proof as JSON, for programs that check it again: what
/// enclosure::ProofStep holds, and the equations of each mode as lines of a tape. Numbers are texts
/// in hexadecimal, bit by bit what was computed with; an interval is a list of two. Throws
/// FileError.
void write_proof(const std::string& file, const enclosure::ExactModel& model,
                 const enclosure::Enclosure& result, int order);

}  // namespace perp::io

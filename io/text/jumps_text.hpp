#pragma once

#include <string>

#include <perp/analysis/jumps.hpp>
#include <perp/io/provenance.hpp>

namespace perp::io {

/// The jumps from x at t as text: a table of all, the smallest marked; where independent blocks of
/// variables have more than a page of them together, a table of each block.
std::string jumps_text(const Model& model, const ModelJumps& found, const Vector& x, double t);

/// The same with the jumps of each block, and of all of them as many as are listed.
Json jumps_to_json(const Model& model, const ModelJumps& found, const Vector& x, double t);

}  // namespace perp::io

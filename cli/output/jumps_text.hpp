#pragma once

#include <string>

#include <perp/cli/output/jumps_of_model.hpp>
#include <perp/cli/output/provenance.hpp>

namespace perp::cli {

/// The jumps from x at t as text: a table of all, the smallest marked; where independent blocks of
/// variables have more than a page of them together, a table of each block.
std::string jumps_text(const Model& model, const ModelJumps& found, const Vector& x, double t);

/// The same with the jumps of each block, and of all of them as many as are listed.
Json jumps_to_json(const Model& model, const ModelJumps& found, const Vector& x, double t);

}  // namespace perp::cli

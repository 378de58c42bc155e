#pragma once

#include <string>

#include <perp/analysis/equilibria.hpp>
#include <perp/io/json.hpp>

namespace perp::io {

/// Each point of rest with its values, eigenvalues and flow, then a table of the tangent points.
std::string equilibria_text(const Model& model, const ModelEquilibria& found);

/// The same with what made it.
Json to_json(const Model& model, const ModelEquilibria& found);

}  // namespace perp::io

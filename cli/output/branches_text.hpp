#pragma once

#include <string>

#include <perp/models/language/model.hpp>

namespace perp::cli {

/// The tree of solutions of a model with the located scheme: for each solution what it chose where
/// several continuations start, how it ends and where. Throws InvalidInput.
std::string branches_text(const Model& model);

}  // namespace perp::cli

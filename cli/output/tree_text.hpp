#pragma once

#include <string>

#include <perp/models/language/model.hpp>

namespace perp::cli {

/// The tree of discrete solutions of a run as text: where it splits, each way with its norm, mode and
/// end, the selector's way marked with '*'. Empty where it never splits.
std::string tree_text(const Model& model);

}  // namespace perp::cli

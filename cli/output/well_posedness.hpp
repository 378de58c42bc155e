#pragma once

#include <string>

#include <perp/models/language/model.hpp>

namespace perp::cli {

/// The table of modes: regularity and index of the DAE of each, C_i B, its step matrix.
std::string modes_text(const Model& model);

/// Whether a step has exactly one solution from every state, for the model's h and for shorter
/// steps, with what proves it; else warnings that name the law and the modes.
std::string step_text(const Model& model);

}  // namespace perp::cli

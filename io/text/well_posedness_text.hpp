#pragma once

#include <string>

#include <perp/analysis/well_posedness.hpp>

namespace perp::io {

/// The table of modes: index of the DAE, C_i B, and the matrix of the step.
std::string modes_text(const Model& model, const ModelModes& modes);

/// How many solutions the steps have, with what proves it or what keeps them from having one.
std::string steps_text(const Model& model, const ModelSteps& steps);

}  // namespace perp::io

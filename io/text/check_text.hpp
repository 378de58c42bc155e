#pragma once

#include <string>

#include <perp/analysis/solutions/listed_solutions.hpp>
#include <perp/analysis/well_posedness.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/models/language/model.hpp>

namespace perp::io {

/// Title, number and kind of the variables.
std::string variables_text(const Model& model);

/// The shapes of an affine model's matrices and what of them depends on time, or the equations as
/// they were lowered, operators replaced by multipliers of their laws.
std::string system_text(const Model& model);

/// The laws with their branches.
std::string laws_text(const Model& model);

/// Whether x0 is consistent, with the modes that hold it.
std::string start_text(const Model& model, const StartConsistency& start);

/// The events of the start and the state from which a run goes on; where none does, why.
std::string scheme_start_text(const Model& model, const Trajectory& run);

}  // namespace perp::io

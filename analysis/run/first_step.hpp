#pragma once

#include <perp/analysis/solutions/listed_solutions.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/models/language/model.hpp>

namespace perp {

/// The first step as the scheme makes it, alone.
Trajectory first_step(Model model);

/// Did the scheme find a state from which to go on?
bool starts(const Model& model, const Trajectory& run);

/// All solutions of the step that `run`, which starts, made first; the one it took is marked.
ListedSolutions solutions_of_first_step(const Model& model, const Trajectory& run,
                                        long most_listed);

}  // namespace perp

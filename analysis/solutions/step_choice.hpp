#pragma once

#include <optional>
#include <string>

#include <perp/analysis/solutions/listed_solutions.hpp>
#include <perp/schemes/continuation/step_path.hpp>

namespace perp {

/// What the selector of a model does with one step.
struct StepChoice {
  Status status = Status::never_run;  ///< solved: there is a choice
  std::string message{};           ///< why there is none
  Vector x{};                      ///< x⁺
  Vector lambda{};                 ///< the multipliers with it
  double norm = nan;               ///< ‖E (x⁺ − x)‖
  std::optional<StepPath> path{};  ///< of the selector continuation
};

/// Which of the solutions of the step from x at t is taken. `present`: the present mode, empty
/// where it is not known; keep_mode then takes the nearest.
StepChoice choice_of_step(const Model& model, const ListedSolutions& solutions, const Vector& x,
                          double t, const Mode& present);

}  // namespace perp

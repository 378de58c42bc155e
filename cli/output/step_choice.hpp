#pragma once

#include <optional>
#include <string>

#include <perp/cli/output/step_solutions.hpp>
#include <perp/schemes/continuation/step_path.hpp>

namespace perp::cli {

/// What the selector of a model does with one step.
struct StepChoice {
  Status status = Status::never_run;
  std::string message{};
  Vector x{}, lambda{};
  double norm = nan;               ///< ‖E (x⁺ − x)‖
  std::optional<StepPath> path{};  ///< of the selector continuation
};

/// Which of the solutions of the step from x at t is taken. `present`: the present mode, empty
/// where it is not known; keep_mode then takes the nearest.
StepChoice choice_of_step(const Model& model, const StepSolutions& solutions, const Vector& x,
                          double t, const Mode& present);

/// The path in words: "[mode 1] up to h = 0.75, where the solutions fold back: a jump of 4.47 to
/// [mode 2]".
std::string describe(const StepPath& path, const Mode& present, const std::vector<Law>& laws);
Json to_json(const StepPath& path, const Mode& present, const std::vector<Law>& laws);

}  // namespace perp::cli

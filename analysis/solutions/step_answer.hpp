#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <perp/analysis/solutions/listed_solutions.hpp>
#include <perp/analysis/solutions/step_choice.hpp>
#include <perp/models/language/model.hpp>

namespace perp {

/// The present mode, which the selector keep_mode needs, and where it is known from.
struct PresentMode {
  Mode mode{};           ///< empty: unknown
  std::string reason{};  ///< where it is known from, or why it is not, for people
};

/// What is asked of one step.
struct StepQuestion {
  double t = 0;                          ///< where the step begins
  std::optional<PresentMode> present{};  ///< none: the one that the state satisfies
  EnumerateOptions limits{};             ///< of an affine model
  long most_listed = 100'000;            ///< bounds the list, not the search
};

/// Everything about one step of length model.run.h: its solutions, and which of them is taken.
struct StepAnswer {
  PresentMode present{};          ///< that of the question, or the one that the state satisfies
  ListedSolutions solutions{};    ///< nearest first, the chosen one marked
  StepChoice choice{};            ///< what the selector takes
  bool choice_is_listed = true;  ///< false: what the selector took is not among those found
  /// Where there is no solution, of each mode by how much it misses one, relative; not known for a
  /// model that is not affine.
  std::vector<std::pair<Mode, double>> violations{};

  /// Is it proved that there is no solution?
  [[nodiscard]] bool has_none() const { return solutions.set.complete && solutions.listed.empty(); }
};

/// The solutions of the step of the model's scheme and h from x, marked and with the selector's
/// choice. Throws InvalidInput: a scheme whose steps are not listed.
StepAnswer answer_step(const Model& model, const Vector& x, const StepQuestion& question);

}  // namespace perp

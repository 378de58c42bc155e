#pragma once

#include <string>
#include <vector>

#include <perp/core/base/types.hpp>
#include <perp/schemes/located/transition/sensitivity_request.hpp>

namespace perp {

/// Which continuation is taken where several start.
enum class ContinuationPolicy {
  minimal_norm,  ///< the least ‖E ẋ⁺‖: the limit h → 0 of [RAB] eq. (31); ties: the present mode
                 ///< first
  stay  ///< the present mode if it is one of them, else as minimal_norm
};

/// Event-located integration: Radau IIA within a mode, of order 5, 9 or 13, with the step length
/// controlled by the error; every end of a mode is found as the end of a full step whose length is
/// an unknown, the next mode from the consistent jets of the modes that are possible there.
struct Located {
  double tol = 1e-8;       ///< relative to the largest of |x_j| and its scale
  int stages = 0;          ///< 3, 5 or 7; 0: by tol
  double first_step = 0;   ///< 0: chosen
  double max_step = inf;   ///< no step is longer
  double fixed_step = 0;   ///< > 0: steps of this length, shorter only before events and the end
  double output_step = 0;  ///< > 0: states are reported at multiples of it too
  /// Which of several continuations is taken.
  ContinuationPolicy policy = ContinuationPolicy::minimal_norm;
  bool cross_check =
      false;       ///< every choice of a mode is compared with a short implicit Euler step
  Vector scale{};  ///< of the variables; 0, or all of it empty: from the data of the model
  std::vector<double> restitution{};   ///< of contacts, one per law, in [0, 1]; empty: 0
  std::vector<std::string> names{};    ///< of the variables, for messages; empty: numbers
  SensitivityRequest sensitivities{};  ///< empty: none are computed
  /// The run ends where the mode of its start does: no_solution, with an event of that kind whose law
  /// is the first that ended; its `pieces` hold ∂x*/∂q where sensitivities are computed. Who chooses
  /// modes by a rule of his own goes on from there.
  bool ends_with_mode = false;
  /// Is it looked for where other continuations start besides the sliding mode that the run stays in?
  bool watches_repulsion = false;
  long max_steps = 10'000'000;         ///< a run with more ends as not_solved
};

}  // namespace perp

#pragma once

#include <vector>

#include <perp/analysis/enclosure/doubleton.hpp>
#include <perp/analysis/enclosure/exact_start.hpp>
#include <perp/analysis/enclosure/modes/state_space.hpp>

namespace perp::enclosure {

/// The numbers of the parameters that it holds, increasing.
std::vector<int> parameters_in(const ExactFormula& formula);

/// Coordinates of a start that are functions of others, x_i = f(p): not any number of their interval
/// with any p.
class DependentStarts {
 public:
  DependentStarts() = default;
  /// In the order in which formulas may hold each other. Those of what is no state, or of parameters
  /// that are none and not `whole`, are left out: their intervals hold all of it.
  DependentStarts(const StateSpace& space, const Box& whole,
                  const std::vector<StartFormula>& formulas);

  [[nodiscard]] bool empty() const { return rows_.empty(); }
  /// The box with the intervals of these coordinates as the others make them.
  [[nodiscard]] Box completed(Box start) const;
  /// The members of a completed box that obey the formulas,
  ///     x_i ∈ f(p̂) + ∂f/∂p (p − p̂).
  [[nodiscard]] Doubleton bound(Doubleton set) const;

 private:
  struct Row {
    int state = -1;
    Flow flow{};  ///< its output is f
  };

  std::vector<Row> rows_;
};

}  // namespace perp::enclosure

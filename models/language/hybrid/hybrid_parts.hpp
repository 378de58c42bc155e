#pragma once

#include <vector>

#include <perp/models/language/hybrid/hybrid_structure.hpp>

namespace perp {

/// Which signals and rows of a hybrid model act on each other, states among them: the weakly
/// connected components of its rows and their signals ẋ, x, y, z.
struct IndependentSets {
  int count = 0;
  bool has_rest = false;  ///< are there rows or binaries without variables?
  /// Number of the set; -1: one of these.
  ///@{
  std::vector<int> of_variable, of_binary;
  std::vector<int> of_row;  ///< of the equations, then the constraints
  ///@}

  /// As how many models they run.
  [[nodiscard]] int parts() const { return count + (has_rest ? 1 : 0); }
};

/// Numbered by their first variable.
IndependentSets independent_sets(const HybridModel& model, const HybridStructure& structure);

/// One of these sets as a model of its own; the lists say what its k-th member is in the whole.
struct HybridPart {
  HybridModel model;
  std::vector<int> variables, binaries, constraints;
};

/// All of them; what has no variable is a model with a constant of its own as state, in no list.
std::vector<HybridPart> independent_parts(const HybridModel& model, const IndependentSets& sets);

}  // namespace perp

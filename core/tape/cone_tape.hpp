#pragma once

#include <vector>

#include <perp/core/tape/tape.hpp>

namespace perp {

/// Single outputs of a tape, each from the inputs through the lines below it alone. What an output
/// needs is found when it is asked for first.
class ConeTape {
 public:
  /// `outputs`: lines.
  ConeTape(Tape tape, std::vector<int> outputs);

  /// Output k at these inputs, bit by bit that of `Tape::evaluate`.
  [[nodiscard]] double value(int k, const std::vector<double>& inputs);

 private:
  using Cone = std::vector<Instruction>;  // operands are places in it
  std::vector<int> lines_below(int output);
  const Cone& cone(int k);

  Tape tape_;
  std::vector<int> outputs_;
  std::vector<Cone> cones_;     // empty: not asked for yet
  std::vector<int> place_;      // of a line in the cone that is made, -1: none
  std::vector<double> values_;  // of the present one
};

}  // namespace perp

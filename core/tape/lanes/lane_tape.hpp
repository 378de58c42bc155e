#pragma once

#include <span>
#include <vector>

#include <perp/core/tape/lanes/lane_program.hpp>

namespace perp {

/// A tape for doubles whose lines of one form are evaluated together: for large systems of like
/// rows, which it serves in vector instructions and without code of its own for each row. The
/// results are those of `Tape::evaluate`, bit by bit.
class LaneTape {
 public:
  LaneTape(const Tape& tape, std::span<const int> outputs, std::size_t split);

  /// Has the tape enough lines of the same form?
  [[nodiscard]] bool serves() const { return serves_; }
  /// Outputs number 0 to split - 1 to `first`, the others to `second`. Does not allocate.
  void run(const double* inputs, double* first, double* second);

 private:

  LaneProgram program_;
  bool serves_ = false;
  std::vector<double> values_;
  std::vector<double> first_, second_;  // with the outputs that are known; empty: none is
};

}  // namespace perp

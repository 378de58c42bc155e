#pragma once

#include <span>
#include <vector>

#include <perp/core/tape/lanes/bounded_lanes.hpp>
#include <perp/core/tape/running_error.hpp>
#include <perp/core/tape/tape.hpp>

namespace perp {

/// Lines of a tape with bounds of their rounding errors. Unlike `bind_inputs` it keeps the error of
/// what depends on parameters alone, which is computed once. The values are those of the tape in
/// doubles, bit by bit.
class BoundedTape {
 public:
  BoundedTape() = default;
  /// `known`: the exact values of the inputs from number `inputs` on.
  BoundedTape(const Tape& tape, std::span<const int> outputs, int inputs,
              std::span<const double> known);

  /// At inputs z that are known to within z_error (nullptr: exact). Does not allocate.
  void run(const double* z, const double* z_error);
  /// The same with all outputs and their errors written here, and nowhere else.
  void run(const double* z, const double* z_error, double* values, double* errors);
  [[nodiscard]] std::size_t outputs() const { return outputs_.size(); }
  /// Are lines of one form run together? Else these are the lines that depend on z, in their order, where each puts its
  /// result; operands that none of them makes are known.
  [[nodiscard]] bool is_in_lanes() const { return lanes_.serves(); }
  struct Line {
    Operation operation;
    int a, b, to;
  };
  [[nodiscard]] const std::vector<Line>& changing() const { return changing_; }
  [[nodiscard]] const std::vector<RunningError>& values() const { return values_; }
  [[nodiscard]] const std::vector<int>& output_lines() const { return outputs_; }
  [[nodiscard]] RunningError output(std::size_t k) const {
    return lanes_.serves() ? lanes_.output(k) : values_[static_cast<std::size_t>(outputs_[k])];
  }

 private:
  std::vector<int> outputs_;
  std::vector<Line> changing_;  // those that depend on z, in their order
  std::vector<RunningError> values_;
  BoundedLanes lanes_;  // of long tapes with lines of the same form
};

}  // namespace perp

#pragma once

#include <span>
#include <vector>

#include <perp/core/tape/lanes/lane_program.hpp>
#include <perp/core/tape/running_error.hpp>

namespace perp {

/// Lines of a tape with bounds of their rounding errors, those of one form together: for large
/// systems of like rows. Values and bounds are those of RunningError, bit by bit.
class BoundedLanes {
 public:
  BoundedLanes() = default;
  /// `is_known`: of each line; then `numbers` has its value and error.
  BoundedLanes(const Tape& tape, std::span<const int> outputs, const std::vector<char>& is_known,
               const std::vector<RunningError>& numbers);

  /// Has the tape enough lines of the same form?
  [[nodiscard]] bool serves() const { return serves_; }
  /// At inputs z that are known to within z_error (nullptr: exact). Does not allocate.
  void run(const double* z, const double* z_error) { compute(z, z_error, output_values_.data(), output_errors_.data()); }
  /// The same with all outputs and their errors written here.
  void run(const double* z, const double* z_error, double* values, double* errors);
  [[nodiscard]] RunningError output(std::size_t k) const {
    return RunningError(output_values_[k], output_errors_[k]);
  }

 private:
  void compute(const double* z, const double* z_error, double* values, double* errors);

  LaneProgram program_;
  bool serves_ = false;
  std::vector<double> values_, errors_;
  std::vector<double> output_values_, output_errors_;
  std::vector<double> exact_;  // 0 for each input
};

}  // namespace perp

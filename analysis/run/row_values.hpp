#pragma once

#include <string>

#include <perp/analysis/run/columns.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/models/language/model.hpp>

namespace perp {

/// The outputs of a state that is to be a row of a result, and whether all numbers of the row are
/// finite: what is not is no result.
class RowValues {
 public:
  explicit RowValues(const Model& model) : columns_(columns_of(model)), model_(model.outputs) {}

  /// Computes the outputs. False where a number of the row is not finite: see `fault`.
  bool take(const Step& step);
  [[nodiscard]] const Vector& outputs() const { return outputs_; }
  /// Does a row hold more than its state?
  [[nodiscard]] bool has_outputs() const { return !columns_.outputs.empty(); }
  /// "stopped at t = 1: output 'y' is inf, which is no result": of the last `take` that was false;
  /// empty: none was.
  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  Columns columns_;
  Outputs model_;
  Vector outputs_;
  std::string fault_;
};

/// Makes a run that was stopped for a fault of its rows one that says so: status, message, event.
void end_by_fault(const std::string& fault, Trajectory& run);

}  // namespace perp

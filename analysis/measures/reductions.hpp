#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <perp/analysis/run/history.hpp>
#include <perp/core/base/archive.hpp>
#include <perp/core/trajectory.hpp>
#include <perp/models/language/model.hpp>
#include <perp/schemes/integrate.hpp>

namespace perp {

/// A run that ended, and the part of it that is measured.
struct MeasuredRun {
  const Trajectory& run;
  const std::vector<ModeSpan>& modes;
  double from = 0;   ///< first time of the window
  double until = 0;  ///< last time that the run reached
};

/// A number, or why there is none.
struct MeasureResult {
  std::optional<double> value{};
  std::string reason{};
};

/// What makes one number of a run: mean(x), period(crossing), ... It is told the courses of the steps and
/// the rows within the window, in their order.
class Reduction {
 public:
  Reduction() = default;
  Reduction(const Reduction&) = delete;
  Reduction& operator=(const Reduction&) = delete;
  virtual ~Reduction() = default;

  /// The part [a, b] of an accepted step.
  virtual void course(const StepCourse& step, double a, double b) { (void)step, (void)a, (void)b; }
  /// A state of the run; at a jump there are two of one time.
  virtual void row(const Step& state) { (void)state; }
  [[nodiscard]] virtual MeasureResult result(const MeasuredRun& run) = 0;
  /// Is it made of steps? Else of events and modes alone.
  [[nodiscard]] virtual bool needs_steps() const { return true; }
  /// What it was told so far.
  virtual void transfer(Archive& archive) { (void)archive; }
};

/// How a reduction is written: its name, what stands in its brackets, what it is.
struct ReductionForm {
  const char* name;
  const char* arguments;  ///< "x", "x, t or x, EVENT, k", ...
  int least, most;        ///< numbers of arguments
  const char* meaning;
  /// Throws ExpressionError, InvalidInput.
  std::unique_ptr<Reduction> (*make)(const Model& model, const std::vector<std::string>& arguments);
};

/// All of them, as `perp list measures` prints them.
const std::vector<ReductionForm>& reduction_forms();

}  // namespace perp

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <perp/core/trajectory.hpp>
#include <perp/models/language/model.hpp>
#include <perp/schemes/integrate.hpp>

namespace perp {

/// A state of a run that a section keeps.
struct SectionPoint {
  double t = 0;
  Vector x;
  Mode mode{};  ///< in which the run came there; empty: not told
};

/// Many states of one run: every:T (T a formula of parameters, from the run's start on), the states before
/// events (as `EventChoice`), or FORMULA=VALUE:up|down, where a formula of the state passes a value.
class Section {
 public:
  virtual ~Section() = default;
  /// Throws InvalidInput.
  static std::unique_ptr<Section> read(const Model& model, const std::string& text);

  /// Every accepted step, in order.
  virtual void course(const StepCourse& step) { (void)step; }
  /// The states with t >= from, after the run.
  [[nodiscard]] virtual std::vector<SectionPoint> points(const Trajectory& run, double from) = 0;
};

}  // namespace perp

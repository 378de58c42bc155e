#pragma once

#include <vector>

#include <perp/schemes/continuation/step_path.hpp>

namespace perp {

/// How far a path may be sampled at once: the solution of a step in one mode is a function of its
/// length h with poles where the equations are singular. A polynomial through a few points resolves
/// it only over a segment that keeps away from all poles, the complex ones included, by a share of
/// its own length.
class PoleLimit {
 public:
  /// For paths up to the length h.
  PoleLimit(StepFamily& family, double h) : family_(family), h_(h) {}

  /// The end, at most `high`, of the longest such segment from `low` on in the mode of `near`, a
  /// solution there. A pole that the solution does not have (the state does not excite it) is no
  /// limit.
  double end_of_segment(const StepPoint& near, double low, double high);
  /// Does the solution run to infinity towards the pole ahead that set the last limit, if one did?
  bool diverges(const StepPoint& near);

 private:
  bool passes(double pole, const StepPoint& near);
  bool is_none(double pole, const StepPoint& near, double low, double high);

  StepFamily& family_;
  double h_;
  double pole_ = nan;
  Mode mode_;
  std::vector<double> passed_, met_;  // poles of mode_ that the solution does not have, and has
};

}  // namespace perp

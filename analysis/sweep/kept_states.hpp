#pragma once

#include <vector>

#include <perp/analysis/sweep/section.hpp>
#include <perp/schemes/integrate.hpp>

namespace perp {

/// The states of a run at given times, taken from the courses of its steps, so that the run is what it is without them; of
/// every step where there are no times. At an event the state behind it.
class KeptStates {
 public:
  explicit KeptStates(std::vector<double> times) : times_(std::move(times)) {}
  void step(const Step& step);
  void course(const StepCourse& step);
  /// Those up to which the run came, after the run.
  [[nodiscard]] std::vector<SectionPoint> take(const Trajectory& run);

 private:
  std::vector<double> times_;  // increasing
  std::size_t next_ = 0;
  std::vector<SectionPoint> states_;
};

/// Where a number of runs has a variable at one time: quantiles, linear between the sorted values.
struct FanRow {
  double t = 0;
  double lowest = 0, lower = 0, median = 0, upper = 0, highest = 0;  ///< at 5 %, 25 %, 50 %, 75 %, 95 %
  long runs = 0;                                                     ///< that came so far
};

/// The quantile p in [0, 1] of sorted values, of which there is one: at the place p (N - 1), from 0.
double quantile(const std::vector<double>& sorted, double p);

/// The rows at the times that any of the runs has; `runs`: of each its states at the same times, as far as it came.
std::vector<FanRow> fan_of(const std::vector<std::vector<SectionPoint>>& runs, int variable);

}  // namespace perp

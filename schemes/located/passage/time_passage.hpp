#pragma once

#include <optional>
#include <vector>

#include <perp/schemes/events/time_switches.hpp>
#include <perp/schemes/located/passage/mode_transition.hpp>

namespace perp {

/// Moments at which functions of time alone are not smooth: no step passes one. From the last moment before it
/// to the first one after it the state stays, and laws may change their branch.
class TimePassage {
 public:
  /// Both must outlive this.
  TimePassage(LocatedParts& run, ModeTransition& transition)
      : run_(run), transition_(transition), switches_(run.at.system) {}

  /// The run starts.
  void start() { next_ = after(run_.at.span.start); }
  /// The next moment.
  void transfer(Archive& archive) { archive(next_); }
  /// Where no step may pass: the end of the span, or the next moment.
  [[nodiscard]] double limit() const { return next_ ? next_->before : run_.at.span.end; }
  /// Is no step left before the next moment?
  [[nodiscard]] bool is_due() const { return next_ && limit() - run_.at.now.t < run_.at.shortest_step(); }
  /// Passes it; the run may have ended then.
  void pass();

 private:
  std::optional<TimeSwitches::Switch> after(double t);
  void end_before();
  bool report_outputs(double from, double to);
  std::vector<int> laws_passing(const Step& before, double after);

  LocatedParts& run_;
  ModeTransition& transition_;
  TimeSwitches switches_;
  std::optional<TimeSwitches::Switch> next_;
};

}  // namespace perp

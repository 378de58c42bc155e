#pragma once

#include <string>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/core/law.hpp>
#include <perp/core/trajectory.hpp>

namespace perp {

/// A stretch of a run in one mode.
struct ModeSpan {
  Mode mode;
  double start = 0;     ///< the run's start, or the time of the change, interpolated where possible
  double end = 0;       ///< start of the next one, or the end of the run
  double found_in = 0;  ///< start of the step in whose end the mode was found
  double found_at = 0;  ///< end of that step

  void transfer(Archive& archive) { archive(mode, start, end, found_in, found_at); }
};

/// The modes of a run in their order, from its accepted steps.
class ModeHistory {
 public:
  void add(const Step& step) { add(step.t, step.mode); }
  /// Steps within a mode need not all be told of, but the last one of each.
  void add(double t, const Mode& mode);
  void transfer(Archive& archive) { archive(spans_, last_t_); }
  /// The spans; the time of a change is that of an event in the step that made it: of the law that changes, else of a
  /// jump, else of the first change of mode, else the end of the step. Modes that begin and end within one step are those
  /// that events lead through and back.
  [[nodiscard]] std::vector<ModeSpan> resolved(const std::vector<Event>& events) const;

 private:
  std::vector<ModeSpan> spans_;
  double last_t_ = 0;
};

/// Is some law in its inner branch (sliding, contact of finite force)?
bool is_sliding(const std::vector<Law>& laws, const Mode& mode);

}  // namespace perp

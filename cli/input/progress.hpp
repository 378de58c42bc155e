#pragma once

#include <chrono>
#include <string>

#include <perp/core/base/types.hpp>

namespace perp::cli {

/// A line on standard error that says how far a long run is: only on a terminal, only after a
/// second, gone when the run ends.
class Progress {
 public:
  /// `allowed` false: never shown.
  Progress(Span span, bool allowed);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  /// Call once a step, or once for several.
  void at(double t, long steps = 1);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  Span span_;
  bool shown_ = false;
  bool allowed_;
  long steps_ = 0;
  long steps_at_last_ = 0;
  Clock::time_point start_, last_;
};

}  // namespace perp::cli

#pragma once

#include <chrono>
#include <functional>

namespace perp {

/// Thrown out of a long computation by `check_interruption`. A run ends with Status::interrupted
/// instead and keeps what it has.
class Interrupted {};

/// From now on every computation of the process ends at the next moment at which its method can
/// stop. May be called by a signal handler.
void request_interruption() noexcept;

/// Was that asked for, or does the watch of this thread ask for it?
bool interruption_requested() noexcept;

/// What stands in every loop that may take long. Throws Interrupted if that was asked for.
inline void check_interruption() {
  if (interruption_requested()) throw Interrupted();
}

/// While it lives, the computations of the thread that made it ask `stop` now and then, at most every 50 ms and at
/// the moments at which their method can stop; once that has said yes they end, and no others do. Whoever may not
/// take signals, a library within another program, stops its own computations so. `stop` throws nothing.
class InterruptionWatch {
 public:
  explicit InterruptionWatch(std::function<bool()> stop);
  ~InterruptionWatch();
  InterruptionWatch(const InterruptionWatch&) = delete;
  InterruptionWatch& operator=(const InterruptionWatch&) = delete;

  /// Has `stop` said yes?
  [[nodiscard]] bool has_stopped() const { return has_stopped_; }

 private:
  friend bool interruption_requested() noexcept;
  [[nodiscard]] bool ask() noexcept;

  std::function<bool()> stop_;
  std::chrono::steady_clock::time_point last_;
  bool has_stopped_ = false;
  InterruptionWatch* outer_;  // the one of the thread before, which is asked again afterwards
};

}  // namespace perp

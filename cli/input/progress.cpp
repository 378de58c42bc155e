#include <fmt/format.h>
#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <utility>

#include <perp/cli/input/progress.hpp>

namespace perp::cli {
namespace {

constexpr int steps_per_look_at_the_clock = 32;
constexpr std::chrono::milliseconds silence{1000};
constexpr std::chrono::milliseconds interval{100};
constexpr int bar_width = 30;

}  // namespace

Progress::Progress(Span span, bool allowed)
    : span_(span),
      allowed_(allowed && isatty(STDERR_FILENO) != 0),
      start_(Clock::now()),
      last_(start_) {}

void Progress::at(double t, long steps) {
  const long before = std::exchange(steps_, steps_ + steps);
  // Fast steps need not look at the clock each time; a slow one is never alone for long.
  const bool looks = steps_ / steps_per_look_at_the_clock != before / steps_per_look_at_the_clock;
  if (!allowed_ || (!looks && steps_ > 1000)) return;
  const Clock::time_point now = Clock::now();
  if (now - start_ < silence || now - last_ < interval) return;
  const double seconds = std::chrono::duration<double>(now - last_).count();
  const double rate = static_cast<double>(steps_ - steps_at_last_) / seconds;
  const double share = std::clamp((t - span_.start) / (span_.end - span_.start), 0.0, 1.0);
  const int filled = static_cast<int>(share * bar_width);
  fmt::print(stderr, "\r\033[K[{:=<{}}{: <{}}] {:3.0f} %  t = {:.6g} of {:.6g}  {:.3g} steps/s", "",
             filled, "", bar_width - filled, 100 * share, t, span_.end, rate);
  std::fflush(stderr);
  shown_ = true;
  last_ = now;
  steps_at_last_ = steps_;
}

void Progress::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace perp::cli

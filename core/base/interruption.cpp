#include <atomic>
#include <utility>

#include <perp/core/base/interruption.hpp>

// The flag by which a signal ends long computations, set by the command line, and the watches of single threads.

namespace perp {
namespace {

constexpr std::chrono::milliseconds interval{50};
constexpr unsigned asked = 1;      // for all computations
constexpr unsigned one_watch = 2;  // the state is their number times this

std::atomic<unsigned> state{0};
static_assert(std::atomic<unsigned>::is_always_lock_free);  // what a signal handler may write

thread_local InterruptionWatch* watch = nullptr;

}  // namespace

void request_interruption() noexcept { state.fetch_or(asked, std::memory_order_relaxed); }

bool interruption_requested() noexcept {
  const unsigned now = state.load(std::memory_order_relaxed);
  if (now == 0) return false;  // always, but while there are watches
  return (now & asked) != 0 || (watch != nullptr && watch->ask());
}

InterruptionWatch::InterruptionWatch(std::function<bool()> stop)
    : stop_(std::move(stop)), last_(std::chrono::steady_clock::now()), outer_(std::exchange(watch, this)) {
  state.fetch_add(one_watch, std::memory_order_relaxed);
}

InterruptionWatch::~InterruptionWatch() {
  watch = outer_;
  state.fetch_sub(one_watch, std::memory_order_relaxed);
}

bool InterruptionWatch::ask() noexcept {
  const auto now = std::chrono::steady_clock::now();
  if (has_stopped_ || now - last_ < interval) return has_stopped_;
  last_ = now;
  has_stopped_ = stop_();
  return has_stopped_;
}

}  // namespace perp

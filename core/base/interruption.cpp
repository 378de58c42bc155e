#include <atomic>

#include <perp/core/base/interruption.hpp>

// The one flag by which a signal ends long computations, set by the command line.

namespace perp {
namespace {

std::atomic<bool> is_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // what a signal handler may write

}  // namespace

void request_interruption() noexcept { is_requested.store(true, std::memory_order_relaxed); }

bool interruption_requested() noexcept { return is_requested.load(std::memory_order_relaxed); }

}  // namespace perp

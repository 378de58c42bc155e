#include <fmt/format.h>
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <perp/cli/input/threads.hpp>
#include <perp/core/base/error.hpp>

namespace perp::cli {
namespace {

constexpr int most_threads = 1024;

}  // namespace

int threads_from(int wanted, const char* option) {
  if (wanted == 0)
    return std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, most_threads);
  if (wanted < 0 || wanted > most_threads)
    throw InvalidInput(
        fmt::format("{} is {}; expected a number from 1 to {}", option, wanted, most_threads));
  return wanted;
}

void in_parallel(int threads, std::size_t count,
                 const std::function<void(std::size_t index, int thread)>& task) {
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> failed_at{SIZE_MAX};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&](int thread) {
    for (;;) {
      const std::size_t index = next.fetch_add(1);
      if (index >= count || index > failed_at.load()) return;
      try {
        task(index, thread);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (index >= failed_at.load()) return;
        failed_at = index;
        failure = std::current_exception();
      }
    }
  };
  std::vector<std::thread> others;
  const int used =
      static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(threads), count));
  for (int k = 1; k < used; ++k) others.emplace_back(work, k);
  work(0);
  for (std::thread& thread : others) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace perp::cli

// Tasks side by side, with an outcome that does not depend on how many run at once.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include <perp/analysis/parallel.hpp>

namespace perp {

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

}  // namespace perp

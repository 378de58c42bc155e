#include <atomic>

#include <perp/io/sweep/shared_sweep.hpp>

namespace perp::io {

void make_together(Ranks& ranks, SweepStore& store, SweepRequest request) {
  const Ranks::Counter counter(ranks);
  std::atomic<long> last = 0;
  request.chunks.processes = ranks.size();
  request.chunks.next = [&] { return last = counter.next(); };
  const auto make = [&] {
    try {
      const SweepResult result = sweep(request);
      store.flush();
      if (result.ended_at_failure || (request.stop && request.stop())) counter.end();
    } catch (...) {
      counter.end();
      throw;
    }
  };
  ranks.together(make, [&] { return last.load(); });
}

}  // namespace perp::io

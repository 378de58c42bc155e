#pragma once

#include <benchmark/benchmark.h>
#include <algorithm>
#include <array>
#include <ctime>
#include <string>

#include <perp/tests/allocations.hpp>

namespace perp::bench {

/// CPU time of this process so far, in ns.
inline double cpu_ns() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

/// ns per unit of a kernel whose call does `units` of work: the least of several calls.
template <class Kernel>
double ns_per_unit(long units, Kernel&& kernel) {
  double least = 1e300;
  for (int i = 0; i < 9; ++i) {
    const double start = cpu_ns();
    kernel();
    least = std::min(least, (cpu_ns() - start) / static_cast<double>(units));
  }
  return least;
}

struct Cost {
  double ns = 0;
  long allocations = 0;

  friend Cost operator-(Cost a, Cost b) { return {a.ns - b.ns, a.allocations - b.allocations}; }
};

/// `scripts/bench --gates` says whether a counter of this case, per step a time or a ratio, is at most this.
inline void gate(benchmark::State& state, const std::string& counter, double most) {
  state.counters["gate " + counter] = most;
}

/// Measures the loop of a case: made just before it, `report` just after it. Times are CPU times,
/// so that they can be divided by floors and peers that were measured in the same process.
class Meter {
 public:
  Meter() : allocations_(allocations()), start_(cpu_ns()) {}

  /// Sets ns_per_step, allocations_per_step and, with a floor, ratio_to_floor; returns ns per step.
  /// `aside` is what was spent in the loop on other things than steps.
  double report(benchmark::State& state, long steps_per_iteration, double floor_ns = 0,
                Cost aside = {}) const {
    const double elapsed = cpu_ns() - start_ - aside.ns;
    const auto allocated = static_cast<double>(allocations() - allocations_ - aside.allocations);
    const double steps =
        static_cast<double>(state.iterations()) * static_cast<double>(steps_per_iteration);
    const double ns = elapsed / steps;
    state.counters["ns_per_step"] = ns;
    state.counters["allocations_per_step"] = allocated / steps;
    if (floor_ns > 0) {
      state.counters["floor_ns"] = floor_ns;
      state.counters["ratio_to_floor"] = ns / floor_ns;
    }
    return ns;
  }

 private:
  long allocations_;
  double start_;
};

}  // namespace perp::bench

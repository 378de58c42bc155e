// The same switching problems in perp, from their models, and in CVODE and IDA of SUNDIALS with
// modes, events and sliding fields written by hand, in one process.
#include <algorithm>

#include <perp/bench/measure.hpp>
#include <perp/bench/switching.hpp>

namespace perp::bench {
namespace {

/// Times of both in one loop, and the errors of both.
void vs_sundials(benchmark::State& state, const Switching& problem,
                 HybridRun (*solve)(const Hybrid&, double, double), double tol) {
  const Located scheme{.tol = tol};
  const HybridRun by_hand = solve(problem.by_hand, problem.end, tol);
  if (!by_hand.solved) return state.SkipWithError("SUNDIALS did not reach the end");
  const Trajectory run = run_located(problem, scheme);
  if (run.status != Status::solved) return state.SkipWithError(run.message.c_str());
  double sundials_ns = 1e300, perp_ns = 1e300;
  for (auto _ : state) {
    sundials_ns = std::min(sundials_ns,
                           ns_per_unit(1, [&] { (void)solve(problem.by_hand, problem.end, tol); }));
    perp_ns = std::min(perp_ns, ns_per_unit(1, [&] { (void)run_located(problem, scheme); }));
  }
  state.counters["sundials_ms"] = 1e-6 * sundials_ns;
  state.counters["perp_ms"] = 1e-6 * perp_ns;
  state.counters["ratio_sundials_to_perp"] = sundials_ns / perp_ns;
  state.counters["sundials_steps"] = static_cast<double>(by_hand.steps);
  state.counters["sundials_events"] = static_cast<double>(by_hand.event_times.size());
  state.counters["sundials_error_end"] = end_error(by_hand.x, problem);
  state.counters["sundials_error_events"] = event_error(by_hand.event_times, problem);
  const Vector& x = run.x.back();
  state.counters["perp_events"] = static_cast<double>(run.events.size());
  state.counters["perp_error_end"] = end_error({x.begin(), x.end()}, problem);
  state.counters["perp_error_events"] = event_error(event_times(run), problem);
}

// clang-format off
BENCHMARK_CAPTURE(vs_sundials, predator_prey_cvode, predator_prey(), run_cvode, 1e-8);
BENCHMARK_CAPTURE(vs_sundials, predator_prey_ida, predator_prey(), run_ida, 1e-8);
BENCHMARK_CAPTURE(vs_sundials, predator_prey_cvode_tol12, predator_prey(), run_cvode, 1e-12);
BENCHMARK_CAPTURE(vs_sundials, relay_crossing_cvode, relay_crossing(), run_cvode, 1e-8);
BENCHMARK_CAPTURE(vs_sundials, relay_crossing_ida, relay_crossing(), run_ida, 1e-8);
BENCHMARK_CAPTURE(vs_sundials, relay_sliding_cvode, relay_sliding(), run_cvode, 1e-8);
BENCHMARK_CAPTURE(vs_sundials, relay_sliding_ida, relay_sliding(), run_ida, 1e-8);
// clang-format on

}  // namespace
}  // namespace perp::bench

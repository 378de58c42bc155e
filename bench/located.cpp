// Whole runs of the located scheme: time, events, and the errors that belong to them.
#include <numeric>
#include <string>

#include <perp/bench/measure.hpp>
#include <perp/bench/switching.hpp>

namespace perp::bench {
namespace {

/// The sensitivities to every initial value and parameter.
SensitivityRequest all_sensitivities(const Model& model) {
  SensitivityRequest request;
  request.starts.resize(model.variables.size());
  std::iota(request.starts.begin(), request.starts.end(), 0);
  request.parameters.resize(model.parameters.size());
  std::iota(request.parameters.begin(), request.parameters.end(), 0);
  return request;
}

void located_run(benchmark::State& state, const Switching& problem, const Located& scheme) {
  const Trajectory once = run_located(problem, scheme);
  if (once.status != Status::solved) return state.SkipWithError(once.message.c_str());
  const Vector& x = once.x.back();
  const double wrong = end_error({x.begin(), x.end()}, problem);
  const double late = event_error(event_times(once), problem);
  if (!(wrong < 1e-7) || !(late < 1e-7)) return state.SkipWithError("the run is wrong");
  const auto steps = static_cast<long>(once.counts.at("steps"));
  const Meter meter;
  for (auto _ : state) benchmark::DoNotOptimize(run_located(problem, scheme));
  const double ns = meter.report(state, steps);
  state.counters["ms_per_run"] = 1e-6 * ns * static_cast<double>(steps);
  state.counters["steps"] = static_cast<double>(steps);
  state.counters["events_per_second"] =
      1e9 * static_cast<double>(once.events.size()) / (ns * static_cast<double>(steps));
  state.counters["error_end"] = wrong;
  state.counters["error_events"] = late;
}

Located with_sensitivities(const Switching& problem, double tol) {
  return {.tol = tol, .sensitivities = all_sensitivities(problem.model)};
}

// clang-format off
BENCHMARK_CAPTURE(located_run, predator_prey, predator_prey(), {.tol = 1e-8});
BENCHMARK_CAPTURE(located_run, predator_prey_sensitivities12, predator_prey(), with_sensitivities(predator_prey(), 1e-8));
BENCHMARK_CAPTURE(located_run, predator_prey_tol12, predator_prey(), {.tol = 1e-12});
BENCHMARK_CAPTURE(located_run, relay_crossing, relay_crossing(), {.tol = 1e-8});
BENCHMARK_CAPTURE(located_run, relay_sliding, relay_sliding(), {.tol = 1e-8});
// clang-format on

}  // namespace
}  // namespace perp::bench

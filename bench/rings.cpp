// Rings of springs that harden, as a text of explicit equations: reading it, steps of backward Euler, and located runs with
// dry friction on some of the masses.
#include <fmt/format.h>
#include <string>
#include <vector>

#include <perp/analysis/run/schemes.hpp>
#include <perp/bench/measure.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/schemes/capturing/nonlinear_capturing.hpp>

namespace perp::bench {
namespace {

/// n unknowns: positions and velocities of n/2 masses, of which the first ones rub.
std::string ring(int n, int rubbing, const std::string& run) {
  std::string variables, equations, laws;
  const int masses = n / 2;
  for (int i = 0; i < masses; ++i) {
    const int left = (i + masses - 1) % masses, right = (i + 1) % masses;
    variables += fmt::format("x{} = {:.6g}\nv{} = 0\n", i, 0.1 * (37 * i % 101) / 101, i);
    equations += fmt::format("\"der(x{0}) = v{0}\",\n\"der(v{0}) = (x{2} - x{0}) + 0.5*(x{2} - x{0})^3 - (x{0} - x{1}) - 0.5*(x{0} - x{1})^3 - 0.1*v{0}{3}\",\n",
                             i, left, right, i < rubbing ? fmt::format(" - 0.01*u{}", i) : "");
    if (i < rubbing) laws += fmt::format("\"u{0} in sign(v{0} - {1})\",\n", i, 0.001 * (i % 7 + 1));
  }
  return fmt::format("[variables]\n{}[model]\nequations = [\n{}]\nlaws = [\n{}]\n[run]\n{}\n", variables, equations, laws, run);
}

Model ring_model(int n, int rubbing, const std::string& run) {
  ReadOptions known;
  known.hybrid = true;
  return read_model_text(ring(n, rubbing, run), "ring.toml", {}, known);
}

constexpr const char* euler = "t = [0, 1]\nh = 0.01\nscheme = \"backward_euler\"";

void reading_ring(benchmark::State& state) {
  const int n = static_cast<int>(state.range(0));
  const std::string text = ring(n, 0, euler);
  ReadOptions known;
  known.hybrid = true;
  const Meter meter;
  for (auto _ : state) benchmark::DoNotOptimize(read_model_text(text, "ring.toml", {}, known).variables.size());
  state.counters["ms_per_model"] = 1e-6 * meter.report(state, 1);
}

/// A step, behind the start and the first steps.
void step_ring(benchmark::State& state) {
  constexpr double h = 0.01;
  const Model model = ring_model(static_cast<int>(state.range(0)), 0, euler);
  NonlinearCapturing scheme(model.system.functions(), BackwardEuler{.h = h});
  std::vector<Event> events;
  if (scheme.start(0, model.x0(), h, events).status != Status::solved) return state.SkipWithError("no start");
  long made = 0;
  const auto advance = [&](long count) {
    for (long k = 0; k < count; ++k) {
      if (scheme.attempt(h * static_cast<double>(++made), h).status != Status::solved) return false;
      scheme.accept();
    }
    return true;
  };
  if (!advance(5)) return state.SkipWithError("a step was not solved");
  constexpr long batch = 5;
  const Meter meter;
  for (auto _ : state)
    if (!advance(batch)) return state.SkipWithError("a step was not solved");
  state.counters["ms_per_step"] = 1e-6 * meter.report(state, batch);
}

void located_ring(benchmark::State& state) {
  const Model model = ring_model(static_cast<int>(state.range(0)), 4, "t = [0, 3]\nscheme = \"located\"\ntol = 1e-8");
  IntegrateOptions options;
  options.keep = false;
  const auto run = [&] { return perp::scheme("located").run(model, options); };
  const Trajectory once = run();
  if (once.status != Status::solved) return state.SkipWithError(once.message.c_str());
  const Meter meter;
  for (auto _ : state) benchmark::DoNotOptimize(run());
  state.counters["ms_per_run"] = 1e-6 * meter.report(state, 1);
  state.counters["steps"] = static_cast<double>(once.counts.at("steps"));
  state.counters["events"] = static_cast<double>(once.events.size());
}

// clang-format off
BENCHMARK(reading_ring)->Arg(1000)->Arg(10000)->Arg(100000);
BENCHMARK(step_ring)->Arg(1000)->Arg(10000)->Arg(100000);
BENCHMARK(located_ring)->Arg(20)->Arg(200)->Arg(2000);
// clang-format on

}  // namespace
}  // namespace perp::bench

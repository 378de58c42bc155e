// Runs of an affine model with numbers of their own, from its text to their ends, beside the same map in a loop by hand.
#include <fmt/format.h>
#include <string>
#include <vector>

#include <perp/bench/measure.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/schemes/lanes/ensemble.hpp>
#include <perp/schemes/system_schemes.hpp>

namespace perp::bench {
namespace {

constexpr int runs_together = 32;

/// [RAB] (36), whose B1 and B2 stand in A.
std::vector<Model> bound_again(const ModelText& text) {
  std::vector<Model> list;
  for (int k = 0; k < runs_together; ++k)
    list.push_back(text.read({{"B1", fmt::format("{}", -0.6 + 0.2 * k / runs_together)}, {"B2", fmt::format("{}", 1.2 - 0.4 * k / runs_together)}}));
  return list;
}

std::vector<EnsembleRun> runs_of(const std::vector<Model>& models, double h, const IntegrateOptions& options) {
  std::vector<EnsembleRun> runs;
  for (const Model& model : models) runs.push_back({model.system, model.x0(), model.run.span, {.h = h}, &options});
  return runs;
}

/// Its mode x1 < 0, as a map of two numbers with one margin.
double by_hand(double h, long steps) {
  double x1 = -5, x2 = 4;
  for (long k = 0; k < steps && !(x1 > 0); ++k) {
    const double z = -x1 - 1 - x2;
    x1 += h * (1 - 0.5 * z) * 1e-9, x2 += h * z * 1e-9;
  }
  return x1 + x2;
}

void batch_index2(benchmark::State& state) {
  const long steps = state.range(0);
  IntegrateOptions options;
  options.keep = false;
  const ModelText text = read_model_file(PERP_MODELS "/switching_dae_crossing.toml");
  const std::vector<Model> list = bound_again(text);
  const double h = (list[0].run.span.end - list[0].run.span.start) / static_cast<double>(steps);
  const std::vector<Trajectory> together = integrate(runs_of(list, h, options));
  const double start = cpu_ns();
  for (std::size_t k = 0; k < list.size(); ++k) {
    const Trajectory alone = integrate(list[k].system, list[k].x0(), list[k].run.span, BackwardEuler{.h = h}, options);
    if (alone.x.back() != together[k].x.back() || alone.counts != together[k].counts) return state.SkipWithError("a run is another one beside others");
  }
  state.counters["alone_ns"] = (cpu_ns() - start) / static_cast<double>(steps * runs_together);
  const double hand = ns_per_unit(steps, [&] { benchmark::DoNotOptimize(by_hand(h, steps)); });
  const Meter meter;
  for (auto _ : state) {
    const std::vector<Model> models = bound_again(text);
    benchmark::DoNotOptimize(integrate(runs_of(models, h, options)).data());
  }
  const double ns = meter.report(state, steps * runs_together, hand);
  state.counters["us_per_run"] = ns * static_cast<double>(steps) / 1000;
}
BENCHMARK(batch_index2)->Arg(1000)->Arg(100000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace perp::bench

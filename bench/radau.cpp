#include <string>
#include <vector>

#include <perp/bench/measure.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/schemes/located/radau/radau.hpp>

namespace perp::bench {
namespace {

constexpr int steps_per_run = 30;

/// Steps with error control of the sliding mode of one predator and two prey, N = 4, from the same
/// start again and again; with the sensitivities to 3 initial values and 9 parameters.
void radau_step(benchmark::State& state, int stages, bool sensitivities) {
  const Model model = read_model(std::string(PERP_MODELS) + "/predator_prey.toml");
  std::vector<int> parameters, columns;
  for (int k = 0; k < static_cast<int>(model.parameters.size()); ++k) {
    parameters.push_back(k);
    columns.push_back(3 + k);
  }
  ModeFlow flow(*model.equations, parameters);
  flow.set_mode({1});
  Radau radau(flow, stages, {.rtol = 1e-8, .atol = Vector::Constant(3, 1e-8)});
  const Vector start{{0.66 * 0.896 / 7.81 * 0.286975, 0.286975, 0.536, 0.5}};
  const Matrix S0 = Matrix::Identity(4, 12);
  Matrix S, S_end;
  long iterations = 0, attempts = 0;
  const auto run = [&] {
    radau.start(0, start);
    S = S0;
    const Radau::Counts before = radau.counts();
    double h = 0.05;
    for (int step = 0; step < steps_per_run;) {
      if (radau.attempt(h) != Radau::Outcome::solved) return false;
      const bool good = radau.error() <= 1;
      h = radau.proposed_step();
      if (!good) continue;
      if (sensitivities && !radau.sensitivities(S, S_end, columns)) return false;
      if (sensitivities) S.swap(S_end);
      radau.accept();
      ++step;
    }
    iterations += radau.counts().iterations - before.iterations;
    attempts += radau.counts().attempts - before.attempts;
    return true;
  };
  if (!run()) return state.SkipWithError("a step was not solved");
  const Meter meter;
  for (auto _ : state)
    if (!run()) return state.SkipWithError("a step was not solved");
  meter.report(state, steps_per_run);
  state.counters["iterations_per_attempt"] =
      static_cast<double>(iterations) / static_cast<double>(attempts);
}
BENCHMARK_CAPTURE(radau_step, s3, 3, false);
BENCHMARK_CAPTURE(radau_step, s5, 5, false);
BENCHMARK_CAPTURE(radau_step, s7, 7, false);
BENCHMARK_CAPTURE(radau_step, s3_sensitivities12, 3, true);
BENCHMARK_CAPTURE(radau_step, s5_sensitivities12, 5, true);
BENCHMARK_CAPTURE(radau_step, s7_sensitivities12, 7, true);

}  // namespace
}  // namespace perp::bench

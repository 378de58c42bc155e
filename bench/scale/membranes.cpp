// Membranes and strings over an obstacle: steps of backward Euler while the edge of the contact moves.
#include <string>
#include <vector>

#include <perp/bench/measure.hpp>
#include <perp/schemes/step/grid/grid_step.hpp>
#include <perp/schemes/run/system_runs.hpp>
#include <perp/tests/schemes/step/grid/string_over_obstacle.hpp>
#include <perp/tests/schemes/step/grid/membrane.hpp>

namespace perp::bench {
namespace {

constexpr double h = 1e-3;
constexpr int first_step = 13;  ///< behind which the edge of the contact moves on

struct Membrane {
  explicit Membrane(int N) : equations(test::membrane(N), 1), grid(GridStep::of(equations)), x(test::membrane_start(N)), mode(static_cast<std::size_t>(N * N), 0) {
    parameter.resize(static_cast<std::size_t>(equations.parameters()));
    lambda = w = rounding = x;
  }
  /// To the next state; false: it is not solved.
  bool step() {
    equations.parameter(x, 0, h, parameter.data());
    if (!grid->set(h, parameter.data())) return false;
    const GridStep::Outcome outcome = grid->solve(mode);
    if (outcome == GridStep::Outcome::unknown || (outcome == GridStep::Outcome::moves && !grid->find(mode))) return false;
    grid->write(x, lambda, w, rounding);
    return true;
  }
  /// Does the state hold its rows and laws, by parts of the sizes of their terms?
  [[nodiscard]] double misfit(const Vector& before) const {
    const Vector rest = x - before - h * (equations.system().A.times(x) + lambda + equations.system().b.constant());
    const Vector sizes = x.cwiseAbs() + before.cwiseAbs() + h * (equations.system().A.sizes_times(x.cwiseAbs()) + lambda);
    const double of_laws = lambda.cwiseMin(w).cwiseAbs().maxCoeff();
    return std::max(of_laws, (rest.array().abs() / sizes.array()).maxCoeff());
  }
  [[nodiscard]] Counts counts() const {
    Counts list;
    grid->add_to(list);
    return list;
  }

  StepEquations equations;
  std::unique_ptr<GridStep> grid;
  Vector x, lambda, w, rounding;
  Mode mode;
  std::vector<double> parameter;
};

void sparse_membrane(benchmark::State& state) {
  Membrane membrane(static_cast<int>(state.range(0)));
  for (int k = 0; k < first_step; ++k)
    if (!membrane.step()) return state.SkipWithError("no step");
  Counts before = membrane.counts();
  const Meter meter;
  long steps = 0;
  Vector last;
  for (auto _ : state) {
    last = membrane.x;
    if (!membrane.step()) return state.SkipWithError("no step");
    ++steps;
  }
  state.counters["s_per_step"] = 1e-9 * meter.report(state, 1);
  if (!(membrane.misfit(last) <= 1e-13)) return state.SkipWithError("the last step is none");
  Counts after = membrane.counts();
  for (const char* name : {"active_sets", "coarse_active_sets", "grid_iterations"})
    state.counters[name] = static_cast<double>(after[name] - before[name]) / static_cast<double>(steps);
  gate(state, "active_sets", 8);
  if (state.range(0) >= 1000) gate(state, "s_per_step", 1);
}
BENCHMARK(sparse_membrane)->Arg(63)->Arg(255)->Arg(1000)->Iterations(4)->Unit(benchmark::kMillisecond);

/// A run of 20 steps, contact from the 13th on.
void sparse_string(benchmark::State& state) {
  const int n = static_cast<int>(state.range(0)), steps = 20;
  const SparseLcs system = test::string_over_obstacle(n);
  const Vector x0 = test::string_start(n);
  const auto run = [&] { return integrate_affine(system, x0, {0, steps * h}, Theta{.h = h, .theta = 1}, {.keep = false}); };
  const Trajectory once = run();
  if (once.status != Status::solved) return state.SkipWithError(once.message.c_str());
  const Meter meter;
  for (auto _ : state) benchmark::DoNotOptimize(run().events.size());
  meter.report(state, steps);
  for (const char* name : {"active_sets", "coarse_active_sets", "factorisations"})
    state.counters[name] = static_cast<double>(once.counts.at(name)) / (steps - first_step);
  gate(state, "factorisations", 10);
}
BENCHMARK(sparse_string)->Arg(1000)->Arg(10'000)->Arg(100'000)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace perp::bench

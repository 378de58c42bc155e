// Time per step through the public stepper (`Capturing`) and through `integrate`, without output.
#include <cmath>
#include <Eigen/LU>

#include <perp/bench/measure.hpp>
#include <perp/bench/stepping.hpp>
#include <perp/bench/systems.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/step_mlcp.hpp>

namespace perp::bench {
namespace {

constexpr long batch = 1000;  // steps per iteration

void step_index2(benchmark::State& state, const Problem& problem, Selector selector) {
  Runner runner(problem, selector);
  if (const std::string error = runner.check(); !error.empty())
    return state.SkipWithError(error.c_str());
  runner.restart();
  const double floor = two_fma_ns();
  const Cost before = runner.aside();
  const Meter meter;
  for (auto _ : state) runner.advance(batch);
  meter.report(state, batch, floor, runner.aside() - before);
  runner.report(state);
}
// clang-format off
BENCHMARK_CAPTURE(step_index2, crossing/previous, crossing(), Selector::keep_mode);
BENCHMARK_CAPTURE(step_index2, crossing/minimal_norm, crossing(), Selector::minimal_norm);
BENCHMARK_CAPTURE(step_index2, repulsive/previous, repulsive(), Selector::keep_mode);
BENCHMARK_CAPTURE(step_index2, repulsive/minimal_norm, repulsive(), Selector::minimal_norm);
// clang-format on

/// Every solution of each step, from the table of all modes; the nearest is taken.
void step_index2_all(benchmark::State& state, const Problem& problem) {
  StepEquations equations(problem.lcs, 1);
  ModeCache maps(equations.family(problem.h));
  std::vector<double> parameter(static_cast<std::size_t>(equations.parameters()));
  Vector x = problem.x0;
  long i = 0;
  int present = -1, most = 0;
  const auto advance = [&](long steps) {
    for (long end = i + steps; i < end; ++i) {
      equations.parameter(x, problem.h * static_cast<double>(i),
                          problem.h * static_cast<double>(i + 1), parameter.data());
      const ModeCache::Choice choice = maps.nearest(parameter.data(), present);
      if (choice.status != Status::solved) return false;
      present = choice.map;
      most = std::max(most, choice.solutions);
      maps.map(present).u(parameter.data(), x.data());
    }
    return true;
  };
  if (!advance(problem.steps) || !((x.head(2) - problem.end).norm() < problem.tolerance))
    return state.SkipWithError("wrong end state");
  x = problem.x0;
  i = 0;
  const double floor = two_fma_ns();
  const Meter meter;
  for (auto _ : state) {
    if (i + batch > problem.steps) {
      x = problem.x0;
      i = 0;
    }
    advance(batch);
  }
  meter.report(state, batch, floor);
  state.counters["maps"] = maps.tabulate();
  state.counters["most_solutions"] = most;
}
// clang-format off
BENCHMARK_CAPTURE(step_index2_all, crossing, crossing());
BENCHMARK_CAPTURE(step_index2_all, repulsive, repulsive());
// clang-format on

/// The whole of `integrate` with nothing kept, per step.
void integrate_index2(benchmark::State& state, const Problem& problem, Selector selector) {
  const Span span{0, problem.h * static_cast<double>(problem.steps)};
  const BackwardEuler scheme{.h = problem.h, .selector = selector};
  const IntegrateOptions options{.keep = false};
  const auto run = [&] { return integrate(problem.lcs, problem.x0, span, scheme, options); };
  const Trajectory trajectory = run();
  if (trajectory.status != Status::solved ||
      !((trajectory.x.back().head(2) - problem.end).norm() < problem.tolerance))
    return state.SkipWithError("wrong end state");
  const double floor = two_fma_ns();
  const Meter meter;
  for (auto _ : state) benchmark::DoNotOptimize(run().x.back().data());
  meter.report(state, problem.steps, floor);
  if (selector == Selector::keep_mode) gate(state, "ns_per_step", 20);
}
// clang-format off
BENCHMARK_CAPTURE(integrate_index2, crossing/previous, crossing(), Selector::keep_mode);
BENCHMARK_CAPTURE(integrate_index2, crossing/continuation, crossing(), Selector::continuation);
BENCHMARK_CAPTURE(integrate_index2, crossing/minimal_norm, crossing(), Selector::minimal_norm);
BENCHMARK_CAPTURE(integrate_index2, repulsive/previous, repulsive(), Selector::keep_mode);
BENCHMARK_CAPTURE(integrate_index2, repulsive/minimal_norm, repulsive(), Selector::minimal_norm);
// clang-format on

/// How it is done without keeping anything: assemble the step and factorise each of the 8 modes,
/// every step.
void step_index2_naive(benchmark::State& state) {
  Problem problem = crossing();
  problem.h = 1e-2;
  problem.steps = 1000;
  const Lcs lcs = validated(problem.lcs);
  Vector x(3), best(3);
  const auto step = [&] {
    const Mlcp mlcp = step_problem(lcs, x, 0, problem.h);
    Vector right(6);
    right << -mlcp.q1, -mlcp.q2;
    double least = inf;
    for (unsigned mode = 0; mode < 8; ++mode) {
      Matrix K = Matrix::Zero(6, 6);
      K.topLeftCorner(3, 3) = mlcp.M11;
      K.bottomLeftCorner(3, 3) = mlcp.M21;
      for (int i = 0; i < 3; ++i) {
        if ((mode >> i & 1) != 0) {
          K.col(3 + i) << mlcp.M12.col(i), mlcp.M22.col(i);
        } else {
          K(3 + i, 3 + i) = -1;
        }
      }
      const Vector y = K.partialPivLu().solve(right);
      const double norm = (y.head(2) - x.head(2)).norm();
      if (y.tail(3).minCoeff() >= -1e-12 && norm < least) {
        least = norm;
        best = y.head(3);
      }
    }
    x = best;
  };
  x = problem.x0;
  for (long i = 0; i < problem.steps; ++i) step();
  if (!((x.head(2) - problem.end).norm() < 1e-6)) return state.SkipWithError("wrong end state");
  const double engine = engine_ns(crossing(), Selector::minimal_norm);
  x = problem.x0;
  const Meter meter;
  for (auto _ : state)
    for (long i = 0; i < batch; ++i) step();
  const double naive = meter.report(state, batch, two_fma_ns());
  state.counters["ratio_to_engine"] = naive / engine;
}
BENCHMARK(step_index2_naive);

void step_circuit(benchmark::State& state, const Problem& problem, Selector selector) {
  Runner runner(problem, selector);
  if (const std::string error = runner.check(); !error.empty())
    return state.SkipWithError(error.c_str());
  runner.restart();
  const auto n = problem.x0.size();
  const double floor = mat_vec_ns(static_cast<int>(n));
  const Cost before = runner.aside();
  const Meter meter;
  for (auto _ : state) runner.advance(batch);
  meter.report(state, batch, floor, runner.aside() - before);
  runner.report(state);
}
// clang-format off
BENCHMARK_CAPTURE(step_circuit, rlcd, rlcd(), Selector::keep_mode);
BENCHMARK_CAPTURE(step_circuit, bridge, bridge(), Selector::keep_mode);
BENCHMARK_CAPTURE(step_circuit, bridge_capacitor, bridge_capacitor(), Selector::keep_mode);
// clang-format on

void step_ladder(benchmark::State& state) {
  const int n = static_cast<int>(state.range(0));
  Problem problem = ladder(n);
  LadderReference reference(n, problem.h);
  for (long i = 1; i <= problem.steps; ++i) reference.step(problem.h * static_cast<double>(i));
  problem.end = reference.v();
  Runner runner(problem, Selector::keep_mode);
  if (const std::string error = runner.check(); !error.empty())
    return state.SkipWithError(error.c_str());
  runner.restart();
  const double tridiagonal = ns_per_unit(100, [&] {
    for (int i = 0; i < 100; ++i) reference.solve(1);
  });
  const double floor = n <= 30 ? mat_vec_ns(n) : tridiagonal;
  const Cost before = runner.aside();
  const Meter meter;
  for (auto _ : state) runner.advance(problem.steps);
  meter.report(state, problem.steps, floor, runner.aside() - before);
  runner.report(state);
  if (n == 10 || n == 30) gate(state, "ratio_to_floor", 8);
}
// As many runs in every repetition: the maps that one makes are there for the next.
BENCHMARK(step_ladder)->Arg(3)->Arg(10)->Arg(30)->Iterations(20);
BENCHMARK(step_ladder)->Arg(100)->Arg(1000)->Iterations(2);

}  // namespace
}  // namespace perp::bench

// Whole runs as a user makes them, with nothing made before: from the model to the last step, divided by the steps.
#include <cmath>
#include <malloc.h>
#include <string>

#include <perp/analysis/run/first_step.hpp>
#include <perp/analysis/well_posedness.hpp>
#include <perp/bench/measure.hpp>
#include <perp/bench/stepping.hpp>
#include <perp/bench/systems.hpp>
#include <perp/core/linear/banded/banded_lu.hpp>
#include <perp/models/language/read_model.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/system_schemes.hpp>

namespace perp::bench {
namespace {

Trajectory cold_run(const Problem& problem, Selector selector) {
  const Span span{0, problem.h * static_cast<double>(problem.steps)};
  return integrate(problem.lcs, problem.x0, span,
                   Theta{.h = problem.h, .theta = problem.theta, .selector = selector}, {.keep = false});
}

/// Empty where it ends as it should.
std::string wrong_end(const Problem& problem, const Trajectory& run, double tolerance) {
  if (run.status != Status::solved) return run.message;
  const double error = (run.x.back().head(problem.end.size()) - problem.end).lpNorm<Eigen::Infinity>();
  return error < tolerance ? "" : fmt::format("end state wrong by {}", error);
}

void report_counts(benchmark::State& state, const Trajectory& run) {
  for (const char* name : {"factorisations", "split", "solver_calls", "not_enumerated"})
    if (const auto count = run.counts.find(name); count != run.counts.end())
      state.counters[name] = static_cast<double>(count->second);
}

/// Time and ratio per step, and what they must not exceed.
void measure(benchmark::State& state, const Problem& problem, Selector selector, double tolerance, double floor,
             const char* gated, double most) {
  const Trajectory once = cold_run(problem, selector);
  if (const std::string error = wrong_end(problem, once, tolerance); !error.empty())
    return state.SkipWithError(error.c_str());
  const Meter meter;
  for (auto _ : state) benchmark::DoNotOptimize(cold_run(problem, selector).x.back().data());
  meter.report(state, problem.steps, floor);
  report_counts(state, once);
  gate(state, gated, most);
}

/// Split steps end at events, where those of the reference do not: its end is met to the order of the step.
void run_ladder(benchmark::State& state) {
  const int n = static_cast<int>(state.range(0));
  Problem problem = ladder(n);
  LadderReference reference(n, problem.h);
  for (long i = 1; i <= problem.steps; ++i) reference.step(problem.h * static_cast<double>(i));
  problem.end = reference.v();
  const double active_set = ns_per_unit(problem.steps, [&] {
    LadderReference again(n, problem.h);
    for (long i = 1; i <= problem.steps; ++i) again.step(problem.h * static_cast<double>(i));
  });
  measure(state, problem, Selector::keep_mode, problem.h, active_set, "ns_per_step", n == 10 ? 5e3 : n == 30 ? 12e3 : n == 100 ? 20e3 : 160e3);
}
BENCHMARK(run_ladder)->Arg(10)->Arg(30)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);

/// m masses in a row on a moving belt, joined by springs, each with dry friction: some of them stick at the start, others
/// come to rest on the belt within the run.
std::string friction_chain_text(int m) {
  return fmt::format(
      "[parameters]\nN = {}\n[variables]\n"
      "x = {{ size = \"N\", start = 0 }}\n"
      "v = {{ size = \"N\", start = \"if(mod(i, 50) = 0, 0.5 + 0.004*mod(7*i, 100), 0.5)\" }}\n"
      "[model]\nequations = [\n"
      "\"for i in 1:N: der(x[i]) = v[i]\",\n"
      "\"for i in 1:N: der(v[i]) = -0.05*x[i] + if(i > 1, x[i-1] - x[i], 0) + if(i < N, x[i+1] - x[i], 0)"
      " - (1 + 0.01*mod(7*i, 10))*sign(v[i] - 0.5)\",\n]\n"
      "[run]\nt = [0, 10]\nh = 0.01\n",
      m);
}

/// One factorization of the matrix of a step by its bands, and one solution: (v, friction) with x eliminated has three bands.
double banded_solve_ns(int m) {
  linear::BandedLu lu(3 * m, 3, 3);
  std::vector<double> x(static_cast<std::size_t>(3 * m), 1.0);
  return ns_per_unit(1, [&] {
    lu.clear();
    for (int i = 0; i < 3 * m; ++i)
      for (int j = std::max(0, i - 3); j < std::min(3 * m, i + 4); ++j) lu.entry(i, j) = i == j ? 4 : 0.5;
    benchmark::DoNotOptimize(lu.factorise());
    lu.solve(x.data());
    benchmark::DoNotOptimize(x.data());
  });
}

void run_friction_chain(benchmark::State& state) {
  const int m = static_cast<int>(state.range(0));
  ReadOptions known;
  known.hybrid = true;  // as perp run reads it
  const Model model = read_model_text(friction_chain_text(m), "friction_chain.toml", {}, known);
  const auto run = [&] {
    return integrate(model.system, model.x0(), model.run.span, BackwardEuler{.h = model.run.h}, {.keep = false});
  };
  const Trajectory once = run();
  if (once.status != Status::solved) return state.SkipWithError(once.message.c_str());
  const double floor = banded_solve_ns(m);
  const Meter meter;
  for (auto _ : state) benchmark::DoNotOptimize(run().x.back().data());
  meter.report(state, 1000, floor);
  report_counts(state, once);
  gate(state, "ratio_to_floor", 12);
}
BENCHMARK(run_friction_chain)->Arg(50)->Arg(500)->Arg(5000)->Unit(benchmark::kMillisecond);

/// A double integrator with a relay, whose argument crosses 0 every other second. The damping of backward Euler brings it to
/// rest at t = 10.4, where crossings accumulate within one step.
std::string relay_text(int end) {
  return fmt::format("[variables]\nx = 0.5\nv = 0\n[model]\nequations = [\"der(x) = v\", \"der(v) = -sign(x)\"]\n"
                     "[run]\nt = [0, {}]\nh = 0.1\n",
                     end);
}

/// Five masses on a moving belt that come to rest on it, and leave it, one after another.
std::string frictions_text() {
  return "[variables]\nx = { size = 5, start = 0 }\nv = { size = 5, start = \"0.5 + 0.1*i\" }\n[model]\nequations = [\n"
         "\"for i in 1:5: der(x[i]) = v[i]\",\n"
         "\"for i in 1:5: der(v[i]) = -0.5*x[i] + if(i > 1, x[i-1] - x[i], 0) + if(i < 5, x[i+1] - x[i], 0)"
         " - (1 + 0.1*i)*sign(v[i] - 0.5)\",\n]\n[run]\nt = [0, 20]\nh = 0.05\n";
}

/// A cold run of few steps, divided by the ends of modes at which it splits them.
void event_cost(benchmark::State& state, const std::string& text) {
  const Model model = read_model_text(text, "events.toml");
  const auto run = [&] {
    return integrate(model.system, model.x0(), model.run.span, BackwardEuler{.h = model.run.h}, {.keep = false});
  };
  const Trajectory once = run();
  if (once.status != Status::solved) return state.SkipWithError(once.message.c_str());
  const Meter meter;
  for (auto _ : state) benchmark::DoNotOptimize(run().x.back().data());
  meter.report(state, once.counts.at("split"), 1);
  report_counts(state, once);
}
// clang-format off
BENCHMARK_CAPTURE(event_cost, relay, relay_text(10));
BENCHMARK_CAPTURE(event_cost, relay_to_rest, relay_text(40));
BENCHMARK_CAPTURE(event_cost, friction5, frictions_text());
// clang-format on

void run_circuit(benchmark::State& state, Problem problem) {
  const double warm = engine_ns(problem, Selector::keep_mode);
  measure(state, problem, Selector::keep_mode, 0.01 * problem.x0[0], warm, "ns_per_step", 300);
}
// clang-format off
BENCHMARK_CAPTURE(run_circuit, rlcd, rlcd());
BENCHMARK_CAPTURE(run_circuit, bridge, bridge());
BENCHMARK_CAPTURE(run_circuit, bridge_capacitor, bridge_capacitor());
// clang-format on

void run_index2(benchmark::State& state) {
  Problem problem = crossing();
  problem.steps = state.range(0);
  problem.h = 10 / static_cast<double>(problem.steps);
  const double warm = engine_ns(problem, Selector::minimal_norm);
  measure(state, problem, Selector::minimal_norm, 2 * problem.h, warm, "ns_per_step", problem.steps == 40 ? 2000 : 100);
}
BENCHMARK(run_index2)->Arg(40)->Arg(1000);

/// k uncoupled copies beside as many single runs.
void run_copies(benchmark::State& state) {
  const int k = static_cast<int>(state.range(0));
  Problem one = repulsive();
  one.steps = 200;
  one.h = 10 / static_cast<double>(one.steps);
  const double single = ns_per_unit(one.steps, [&] { cold_run(one, Selector::keep_mode); });
  Problem all = one;
  all.lcs = copies(one.lcs, k);
  all.x0 = one.x0.replicate(k, 1);
  all.end = Vector();
  measure(state, all, Selector::keep_mode, inf, k * single, "ratio_to_floor", 1.5);
  if (state.counters.contains("not_enumerated")) state.SkipWithError("a step was not enumerated");
}
BENCHMARK(run_copies)->Arg(20)->Arg(1000)->Unit(benchmark::kMillisecond);

std::size_t bytes_in_use() {
  const auto heap = mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

/// [RAB] (36) in so many steps. Content: t, x, lambda and w as doubles, and nothing for modes, which are few.
void keep_run(benchmark::State& state) {
  Problem problem = crossing();
  problem.steps = state.range(0);
  problem.h = 10 / static_cast<double>(problem.steps);
  const Span span{0, 10};
  const Theta theta{.h = problem.h, .theta = problem.theta};
  const std::size_t before = bytes_in_use();
  const Trajectory kept = integrate(problem.lcs, problem.x0, span, theta);
  const auto room = static_cast<double>(bytes_in_use() - before);
  const double content = 8 * static_cast<double>(kept.size()) * static_cast<double>(1 + kept.x.back().size() + 2 * kept.lambda.back().size());
  const Meter meter;
  for (auto _ : state) benchmark::DoNotOptimize(integrate(problem.lcs, problem.x0, span, theta).size());
  meter.report(state, problem.steps);
  state.counters["room_to_content"] = room / content;
  gate(state, "room_to_content", 1.1);
}
BENCHMARK(keep_run)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

std::string ladder_text(int n) {
  std::string variables, equations, laws;
  for (int i = 1; i <= n; ++i) {
    variables += fmt::format("v{} = 0\n", i);
    equations += fmt::format("\"der(v{0}) = {1} - 2*v{0} + {2} + {3:.17g} + i{0}\",\n", i,
                             i == 1 ? "20*sin(2*pi*t/40)" : fmt::format("v{}", i - 1),
                             i == n ? "0" : fmt::format("v{}", i + 1), ladder_bias(i - 1, n));
    laws += fmt::format("\"0 <= v{0} perp i{0} >= 0\",\n", i);
  }
  return fmt::format("[variables]\n{}[model]\nequations = [\n{}]\nlaws = [\n{}]\n[run]\nt = [0, 40]\nh = 0.1\n",
                     variables, equations, laws);
}

/// What `perp check` asks of the ladder, from its text on.
void check_ladder(benchmark::State& state) {
  const int n = static_cast<int>(state.range(0));
  const std::string text = ladder_text(n);
  const auto check = [&] {
    const Model model = read_model_text(text, "ladder.toml");
    const Trajectory run = first_step(model);
    return solvability_of_steps(model).found.at_h.is_unique() &&
           consistency_of_start(model).multiplicity == Multiplicity::continuum && well_posedness(model).count > n &&
           multiplicity(solutions_of_first_step(model, run, 50).set) == Multiplicity::unique;
  };
  if (!check()) return state.SkipWithError("a wrong answer");
  const Meter meter;
  for (auto _ : state) benchmark::DoNotOptimize(check());
  const double ns = meter.report(state, 1);
  state.counters["ms"] = 1e-6 * ns;
  gate(state, "ms", n <= 100 ? 100 : 1000);
}
BENCHMARK(check_ladder)->Arg(30)->Arg(100)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace perp::bench

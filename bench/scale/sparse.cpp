// Steps of large systems as runs make them, beside one factorisation and solution by the same bands.
#include <malloc.h>
#include <cmath>
#include <utility>
#include <vector>

#include <perp/bench/measure.hpp>
#include <perp/core/linear/banded/banded_lu.hpp>
#include <perp/schemes/run/system_runs.hpp>

namespace perp::bench {
namespace {

constexpr double h = 0.1;

/// A ladder of n nodes with a diode to ground at each, which currents discharge from i/n on:
///     v̇_i = v_{i-1} - 2 v_i + v_{i+1} - share/h + λ_i,   0 ≤ v_i ⊥ λ_i ≥ 0
/// In each step share·n diodes begin to conduct.
SparseLcs sparse_ladder_system(int n, double share) {
  std::vector<linear::SparseMatrix::Placed> A, identity;
  for (int i = 0; i < n; ++i) {
    if (i > 0) A.push_back({i, i - 1, 1});
    A.push_back({i, i, -2});
    if (i + 1 < n) A.push_back({i, i + 1, 1});
    identity.push_back({i, i, 1});
  }
  const linear::SparseMatrix one(n, n, identity);
  return {.E = one,
          .A = linear::SparseMatrix(n, n, A),
          .B = one,
          .b = Signal(Vector(Vector::Constant(n, -share / h))),
          .C = one,
          .D = linear::SparseMatrix(n, n),
          .q = Signal(Vector(Vector::Zero(n))),
          .laws = std::vector<Law>(static_cast<std::size_t>(n), complementarity())};
}

/// The bands of a step, (v_i, λ_i) side by side: made and factored, and the solution alone, in ns.
std::pair<double, double> banded_floors(int n) {
  linear::BandedLu lu(2 * n, 2, 2);
  std::vector<double> x(2 * static_cast<std::size_t>(n), 1.0);
  const double factor = ns_per_unit(1, [&] {
    lu.clear();
    for (int i = 0; i < n; ++i) {
      lu.entry(2 * i, 2 * i) = 1 / h + 2;
      if (i > 0) lu.entry(2 * i, 2 * i - 2) = -1;
      if (i + 1 < n) lu.entry(2 * i, 2 * i + 2) = -1;
      lu.entry(2 * i, 2 * i + 1) = -1;
      lu.entry(2 * i + 1, 2 * i + i % 2) = 1;
    }
    benchmark::DoNotOptimize(lu.factorise());
  });
  const double solve = ns_per_unit(1, [&] {
    lu.solve(x.data());
    benchmark::DoNotOptimize(x.data());
  });
  return {factor + solve, solve};
}

/// Bytes that are in use.
double used_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

/// Of 20 steps of a run behind its first five; `start` and memory are counters beside.
void steps_of_run(benchmark::State& state, double share, double most) {
  constexpr int first = 5, steps = 20;
  const int n = static_cast<int>(state.range(0));
  const auto [factor, solve] = banded_floors(n);
  const double empty = used_bytes();
  const IntegrateOptions options{.keep = false};
  CapturingFacts facts;
  const auto run = capturing_run(sparse_ladder_system(n, share), Vector::LinSpaced(n, 1.0 / n, 1), {0, 1000 * h},
                                 Theta{.h = h, .theta = 1}, options, facts);
  const double start = cpu_ns();
  run->start();
  state.counters["start_ratio"] = (cpu_ns() - start) / factor;
  const auto advance = [&](int count) {
    for (int k = 0; k < count; ++k) run->advance();
  };
  advance(first);
  const std::size_t before = run->result().events.size();
  const Meter meter;
  for (auto _ : state) advance(steps);
  meter.report(state, steps, share == 0 ? solve : factor);
  if (run->result().status != Status::never_run) return state.SkipWithError(run->result().message.c_str());
  state.counters["events_per_step"] = static_cast<double>(run->result().events.size() - before) / steps;
  state.counters["bytes_per_unknown"] = (used_bytes() - empty) / (2 * n);
  gate(state, "ratio_to_floor", most);
  gate(state, "start_ratio", 20);
  gate(state, "bytes_per_unknown", 250);
}

/// How the time of a step grows from a thousand nodes on.
void gate_exponent(benchmark::State& state) {
  static double least = 0;
  const double ns = state.counters["ns_per_step"], n = static_cast<double>(state.range(0));
  if (n == 1000) least = ns;
  if (n <= 1000 || least == 0) return;
  state.counters["exponent"] = std::log(ns / least) / std::log(n / 1000);
  gate(state, "exponent", 1.1);
}

void sparse_ladder(benchmark::State& state) {
  steps_of_run(state, 0.015, 5);
  gate_exponent(state);
}
void sparse_same_set(benchmark::State& state) { steps_of_run(state, 0, 2); }

BENCHMARK(sparse_ladder)->Arg(1000)->Arg(10000)->Arg(100000)->Arg(1000000)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(sparse_same_set)->Arg(1000)->Arg(100000)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace perp::bench

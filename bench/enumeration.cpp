// All solutions of a mixed complementarity problem.
#include <cmath>
#include <limits>

#include <perp/bench/measure.hpp>
#include <perp/bench/stepping.hpp>
#include <perp/bench/systems.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/nearest/nearest_search.hpp>

namespace perp::bench {
namespace {

constexpr int brute_force_limit = 14;   // pairs
constexpr long node_limit = 1'000'000;  // a case that needs more is not worth timing

/// Empty if the enumeration is complete, has the wanted number of solutions (-1: what brute force
/// counts), and each of them passes the residual.
std::string check(const Mlcp& problem, long wanted) {
  const SolutionSet set = enumerate(problem, {.max_nodes = node_limit});
  if (!set.complete) return "not complete: " + set.certificate;
  if (wanted < 0) wanted = brute_force_count(problem);
  if (count(set) != wanted) return fmt::format("{} solutions instead of {}", count(set), wanted);
  const long listed = problem.m() <= 36 ? 4096 : 4;  // each has up to 4096 modes of all laws
  for (const Piece& piece : pieces(set, listed))
    for (Eigen::Index i = 0; i < piece.vertices.cols(); ++i) {
      const Vector y = piece.vertices.col(i);
      const double found = residual(problem, y.head(problem.p()), y.tail(problem.m()));
      if (!(found <= solution_tolerance)) return fmt::format("a solution with residual {}", found);
    }
  return "";
}

void enum_all(benchmark::State& state, Mlcp (*make)(int), long (*known)(int)) {
  const int m = static_cast<int>(state.range(0));
  const Mlcp problem = make(m);
  long wanted = known(m);
  const bool judge = problem.p() == 0 && m <= brute_force_limit;
  if (const std::string error = check(problem, judge ? -1 : wanted); !error.empty())
    return state.SkipWithError(error.c_str());
  if (judge) wanted = brute_force_count(problem);
  const double floor = lu_ns(m);
  long nodes = 0;
  const Meter meter;
  for (auto _ : state) {
    const SolutionSet set = enumerate(problem);
    nodes = set.nodes;
    benchmark::DoNotOptimize(&set);
  }
  const double ns = meter.report(state, 1, floor);
  state.counters["nodes"] = static_cast<double>(nodes);
  state.counters["solutions"] = static_cast<double>(wanted);
  state.counters["ns_per_solution"] = ns / static_cast<double>(wanted);
}

/// The nearest solution alone. Checked by the enumeration where that is quick, else by its bound.
void enum_min(benchmark::State& state, Mlcp (*make)(int), Norm (*norm_of)(int)) {
  const int m = static_cast<int>(state.range(0));
  const Mlcp problem = make(m);
  const Norm norm = norm_of(m);
  ProvedNearest found = find_nearest(problem, norm, {.max_nodes = node_limit});
  if (found.status != Status::solved) return state.SkipWithError(found.certificate.c_str());
  if (!(found.bound >= found.norm * (1 - 1e-7)))
    return state.SkipWithError("the bound is far below the norm");
  if (m <= 15) {
    const double wanted = nearest(problem, enumerate(problem), norm).norm;
    if (!(std::abs(found.norm - wanted) <= 1e-8 * wanted))
      return state.SkipWithError("not the nearest solution");
  }
  const double floor = lu_ns(m);
  const Meter meter;
  for (auto _ : state) {
    found = find_nearest(problem, norm);
    benchmark::DoNotOptimize(&found);
  }
  meter.report(state, 1, floor);
  state.counters["nodes"] = static_cast<double>(found.nodes);
  state.counters["nodes_per_law"] = static_cast<double>(found.nodes) / m;
}

Norm norm_of_lambda(int m) { return {Matrix::Identity(m, m), Vector::Zero(m)}; }

long one(int) { return 1; }
long sixteen(int) { return 16; }
/// Saturates like `count`.
long two_each(int m) { return m / 3 < 63 ? 1L << (m / 3) : std::numeric_limits<long>::max(); }

// clang-format off
BENCHMARK_CAPTURE(enum_all, P, random_p, one)->Arg(6)->Arg(10)->Arg(14)->Arg(18)->Arg(22)->Arg(30);
BENCHMARK_CAPTURE(enum_all, multi, random_multi, sixteen)->Arg(6)->Arg(10)->Arg(14)->Arg(22)->Arg(30);
BENCHMARK_CAPTURE(enum_all, copies, index2_copies, two_each)->Arg(6)->Arg(15)->Arg(21)->Arg(30)->Arg(36)->Arg(300);
BENCHMARK_CAPTURE(enum_all, lower, index2_chain, two_each)->Arg(6)->Arg(15)->Arg(21)->Arg(30);
BENCHMARK_CAPTURE(enum_all, chain, index2_two_sided, two_each)->Arg(6)->Arg(12)->Arg(15);
BENCHMARK_CAPTURE(enum_min, copies, index2_copies, index2_norm)->Arg(12)->Arg(24)->Arg(48)->Arg(96)->Arg(300);
BENCHMARK_CAPTURE(enum_min, lower, index2_chain, index2_norm)->Arg(12)->Arg(24)->Arg(48)->Arg(96);
BENCHMARK_CAPTURE(enum_min, chain, index2_two_sided, index2_norm)->Arg(12)->Arg(24)->Arg(48)->Arg(96);
BENCHMARK_CAPTURE(enum_min, multi, random_multi, norm_of_lambda)->Arg(12)->Arg(24)->Arg(30);
// clang-format on

}  // namespace
}  // namespace perp::bench

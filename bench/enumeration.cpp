// All solutions of a mixed complementarity problem.
#include <perp/bench/measure.hpp>
#include <perp/bench/stepping.hpp>
#include <perp/bench/systems.hpp>
#include <perp/lcp/enumerate.hpp>

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
  for (const Piece& piece : pieces(set, 4096))
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

long one(int) { return 1; }
long sixteen(int) { return 16; }
long two_each(int m) { return 1L << (m / 3); }

// clang-format off
BENCHMARK_CAPTURE(enum_all, P, random_p, one)->Arg(6)->Arg(10)->Arg(14)->Arg(18)->Arg(22)->Arg(30);
BENCHMARK_CAPTURE(enum_all, multi, random_multi, sixteen)->Arg(6)->Arg(10)->Arg(14)->Arg(22)->Arg(30);
BENCHMARK_CAPTURE(enum_all, copies, index2_copies, two_each)->Arg(6)->Arg(15)->Arg(21)->Arg(30)->Arg(36);
BENCHMARK_CAPTURE(enum_all, lower, index2_chain, two_each)->Arg(6)->Arg(15)->Arg(21);
// clang-format on

}  // namespace
}  // namespace perp::bench

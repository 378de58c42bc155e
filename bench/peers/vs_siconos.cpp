// The same runs in perp and in Siconos' own kernel, and the same problem in both enumerations, in
// one process.
#include <lcp_cst.h>
#include <LCP_Solvers.h>
#include <LinearComplementarityProblem.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <SolverOptions.h>
#include <cstdlib>

#include <perp/bench/measure.hpp>
#include <perp/bench/peers/siconos_kernel.hpp>
#include <perp/bench/stepping.hpp>
#include <perp/bench/systems.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>

namespace perp::bench {
namespace {

std::vector<double> rows(const Matrix& M) {
  std::vector<double> entries;
  for (Eigen::Index i = 0; i < M.rows(); ++i)
    for (Eigen::Index j = 0; j < M.cols(); ++j) entries.push_back(M(i, j));
  return entries;
}

void ladder_b(double t, unsigned n, double* b, unsigned, double*) {
  for (unsigned i = 0; i < n; ++i) b[i] = ladder_bias(static_cast<int>(i), static_cast<int>(n));
  b[0] += ladder_source(t);
}

KernelProblem kernel_problem(const Problem& problem) {
  const Lcs lcs = validated(problem.lcs);
  KernelProblem kernel;
  kernel.n = static_cast<unsigned>(lcs.n());
  kernel.m = static_cast<unsigned>(lcs.m());
  if (problem.lcs.E.size() > 0) kernel.E = rows(lcs.E);
  kernel.A = rows(lcs.A);
  kernel.B = rows(lcs.B);
  kernel.C = rows(lcs.C);
  kernel.D = rows(lcs.D);
  kernel.b = rows(lcs.b.constant());
  kernel.q = rows(lcs.q.constant());
  kernel.x0 = rows(problem.x0);
  if (!lcs.b.is_constant()) kernel.b_of_t = ladder_b;
  kernel.h = problem.h;
  kernel.theta = problem.theta;
  kernel.steps = problem.steps;
  return kernel;
}

/// Largest distance of the kernel's differential variables after its run from the known end.
double kernel_error(const SiconosKernel& kernel, const Vector& end) {
  const std::vector<double> x = kernel.x();
  return (Eigen::Map<const Vector>(x.data(), end.size()) - end).lpNorm<Eigen::Infinity>();
}

void report(benchmark::State& state, double siconos_ns, double perp_ns,
            double allocations_per_step) {
  state.counters["siconos_ns"] = siconos_ns;
  state.counters["perp_ns"] = perp_ns;
  state.counters["siconos_allocations"] = allocations_per_step;
  state.counters["ratio_siconos_to_perp"] = siconos_ns / perp_ns;
}

/// Times whole runs of the kernel, without the making of their objects, beside runs of `engine` in
/// perp.
template <class Step>
void time_kernel(benchmark::State& state, const Problem& problem, SiconosKernel::Solver solver,
                 const Problem& engine, Selector selector, Step&& step) {
  const KernelProblem data = kernel_problem(problem);
  double perp_ns = nan;
  try {
    perp_ns = engine_ns(engine, selector);
  } catch (const std::exception& error) {
    return state.SkipWithError(error.what());
  }
  double ns = 0;
  long steps = 0, allocated = 0;
  for (auto _ : state) {
    SiconosKernel kernel(data, solver);
    const long allocated_before = allocations();
    const double start = cpu_ns();
    for (long i = 0; i < problem.steps; ++i) step(kernel);
    const double elapsed = cpu_ns() - start;
    allocated += allocations() - allocated_before;
    state.SetIterationTime(elapsed * 1e-9);
    ns += elapsed;
    steps += problem.steps;
    const double error = kernel_error(kernel, problem.end);
    if (!(error < problem.tolerance))
      return state.SkipWithError(fmt::format("Siconos' end state is wrong by {}", error).c_str());
  }
  report(state, ns / static_cast<double>(steps), perp_ns,
         static_cast<double>(allocated) / static_cast<double>(steps));
}

void vs_siconos_circuit(benchmark::State& state, Problem problem) {
  time_kernel(state, problem, SiconosKernel::Solver::lemke, problem, Selector::keep_mode,
              [](SiconosKernel& kernel) { kernel.step(); });
}
// clang-format off
BENCHMARK_CAPTURE(vs_siconos_circuit, rlcd, rlcd())->UseManualTime();
BENCHMARK_CAPTURE(vs_siconos_circuit, bridge, bridge())->UseManualTime();
BENCHMARK_CAPTURE(vs_siconos_circuit, bridge_capacitor, bridge_capacitor())->UseManualTime();
// clang-format on

/// 40 steps from start to end: the packaged kernel breaks down on this system after a few hundred
/// solutions.
Problem coarse(Problem problem) {
  problem.h = 0.25;
  problem.steps = 40;
  return problem;
}

void vs_siconos_index2(benchmark::State& state, const Problem& problem, int seeds) {
  time_kernel(state, coarse(problem), SiconosKernel::Solver::enumeration, problem,
              seeds == 0 ? Selector::keep_mode : Selector::minimal_norm,
              [seeds](SiconosKernel& kernel) {
                if (seeds == 0)
                  kernel.step();
                else
                  kernel.step_nearest(seeds);
              });
}
// clang-format off
BENCHMARK_CAPTURE(vs_siconos_index2, crossing/one_solution, crossing(), 0)->UseManualTime();
BENCHMARK_CAPTURE(vs_siconos_index2, crossing/minimal_norm, crossing(), 8)->UseManualTime();
BENCHMARK_CAPTURE(vs_siconos_index2, repulsive/minimal_norm, repulsive(), 8)->UseManualTime();
// clang-format on

void vs_siconos_ladder(benchmark::State& state) {
  Problem problem = ladder(static_cast<int>(state.range(0)));
  LadderReference reference(problem.lcs.n(), problem.h);
  for (long i = 1; i <= problem.steps; ++i) reference.step(problem.h * static_cast<double>(i));
  problem.end = reference.v();
  time_kernel(state, problem, SiconosKernel::Solver::lemke, problem, Selector::keep_mode,
              [](SiconosKernel& kernel) { kernel.step(); });
}
BENCHMARK(vs_siconos_ladder)->Arg(3)->Arg(10)->Arg(30)->Arg(100)->UseManualTime();

/// Siconos numerics' enumeration of all solutions of a dense problem that has one.
void vs_siconos_enumeration(benchmark::State& state) {
  const int m = static_cast<int>(state.range(0));
  const Mlcp problem = random_p(m);
  Matrix M = problem.M22;
  Vector q = problem.q2;
  NumericsMatrix* matrix = NM_create_from_data(NM_DENSE, m, m, M.data());
  LinearComplementarityProblem lcp{m, matrix, q.data()};
  SolverOptions* options = solver_options_create(SICONOS_LCP_ENUM);
  options->iparam[SICONOS_LCP_IPARAM_ENUM_MULTIPLE_SOLUTIONS] = 1;
  Vector z(m), w(m);
  const auto solve = [&] {
    return linearComplementarity_driver(&lcp, z.data(), w.data(), options);
  };
  const auto clean = [&] {
    solver_options_delete(options);
    matrix->matrix0 = nullptr;  // Eigen owns it
    NM_clear(matrix);
    std::free(matrix);
  };
  solve();  // its status is 1 when all solutions are asked for, whatever it found
  const int found = options->iparam[SICONOS_LCP_IPARAM_ENUM_NUMBER_OF_SOLUTIONS];
  const SolutionSet set = enumerate(problem);
  const Vector ours =
      count(set) == 1 ? Vector(pieces(set, 1).front().vertices.col(0)) : Vector::Zero(m);
  if (found != 1 || !((ours - z).norm() < 1e-8)) {
    clean();
    return state.SkipWithError("the two enumerations do not agree");
  }
  const double perp_ns =
      ns_per_unit(1, [&] { benchmark::DoNotOptimize(enumerate(problem).nodes); });
  const Meter meter;
  for (auto _ : state) benchmark::DoNotOptimize(solve());
  const double ns = meter.report(state, 1);
  report(state, ns, perp_ns, state.counters["allocations_per_step"]);
  clean();
}
BENCHMARK(vs_siconos_enumeration)->Arg(6)->Arg(10)->Arg(14);

}  // namespace
}  // namespace perp::bench

#include <string>

#include <perp/lcp/solver.hpp>

namespace perp {
namespace {

/// A problem alone is no reason to start processes: the scheme makes the steps of runs by it, see BoxStepping.
std::string is_of_runs(const Mlcp& /*problem*/) { return "it makes the steps of perp run with backward_euler, not single problems"; }

SolveResult nothing(const Mlcp& problem, const SolveOptions& /*options*/) { return {Status::not_supported, is_of_runs(problem), {}, 0}; }

constexpr MlcpSolver petsc_methods[] = {
    {"petsc", "PETSc SNES vinewtonrsls on many processes: mpirun -n N perp run MODEL --solver petsc", is_of_runs, nothing},
};

}  // namespace

extern const MlcpSolvers petsc;
const MlcpSolvers petsc{petsc_methods};

}  // namespace perp

// A solver that answers u = 0, λ = 0, which perp's residual judges.
#include <perp/lcp/solver_table.hpp>

namespace perp {
namespace {

std::string supports_all(const Mlcp& /*problem*/) { return {}; }

SolveResult solve_by_zero(const Mlcp& problem, const SolveOptions& /*options*/) {
  SolveResult result;
  result.status = Status::solved;
  result.solution.u = Vector::Zero(problem.p());
  result.solution.lambda = Vector::Zero(problem.m());
  return result;
}

constexpr MlcpSolver methods[] = {{"all_zero", "u = 0, lambda = 0", supports_all, solve_by_zero}};

}  // namespace

extern const MlcpSolvers all_zero;
const MlcpSolvers all_zero{methods};

}  // namespace perp

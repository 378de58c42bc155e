#pragma once

#include <span>
#include <string>
#include <vector>

#include <perp/core/base/status.hpp>
#include <perp/lcp/mlcp.hpp>

namespace perp {

/// Options of a solver that looks for one solution.
struct SolveOptions {
  double tol = solution_tolerance;  ///< largest accepted `residual`
  int max_iterations = 10'000;      ///< pivots, Newton steps or modes tried
  const Mode* present = nullptr;    ///< mode to start from, for solvers that can use it
};

/// What a solver that looks for one solution returns.
struct SolveResult {
  Status status = Status::never_run;  ///< solved | no_solution (proved) | not_solved | not_supported
  std::string message{};              ///< one sentence when not solved
  Solution solution;                  ///< meaningful when solved; its residual passed `tol`
  long iterations = 0;                ///< pivots, Newton steps or modes tried
};

/// A solver of one Mlcp: one constant per method, in lcp/solvers/<name>.cpp.
struct MlcpSolver {
  const char* name;         ///< as in model files and on the command line
  const char* description;  ///< one line for `perp list solvers`
  /// Empty if the method applies to this problem, else the reason why not.
  std::string (*unsupported)(const Mlcp& problem);
  /// Looks for one solution.
  SolveResult (*solve)(const Mlcp& problem, const SolveOptions& options);
};

/// The methods of one file: lcp/solvers/<file>.cpp defines `extern const MlcpSolvers <file>`.
using MlcpSolvers = std::span<const MlcpSolver>;

/// All solvers, from the table that the build makes of lcp/solvers.
const std::vector<const MlcpSolver*>& solvers();

/// The solver of that name. Throws InvalidInput with the nearest known name.
const MlcpSolver& solver(const std::string& name);

/// Runs a solver and checks its answer with perp's own `residual`: not_supported if it does not
/// apply, not_solved if the answer fails.
SolveResult solve(const MlcpSolver& method, const Mlcp& problem, const SolveOptions& options = {});

}  // namespace perp

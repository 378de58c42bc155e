#include <fmt/format.h>
#include <span>
#include <string>
#include <vector>

#include <perp/core/base/error.hpp>
#include <perp/core/base/nearest_name.hpp>
#include <perp/lcp/residual_gate.hpp>
#include <perp/lcp/solver.hpp>
#include <perp/lcp/solver_table.hpp>

namespace perp {

const std::vector<const MlcpSolver*>& solvers() {
  static const std::vector<const MlcpSolver*> all = [] {
    std::vector<const MlcpSolver*> list;
    for (const MlcpSolvers* file : solver_table())
      for (const MlcpSolver& method : *file) list.push_back(&method);
    return list;
  }();
  return all;
}

const MlcpSolver& solver(const std::string& name) {
  std::vector<std::string> names;
  for (const MlcpSolver* method : solvers()) {
    if (method->name == name) return *method;
    names.emplace_back(method->name);
  }
  throw InvalidInput(fmt::format("unknown solver '{}'; expected one of {}{}", name,
                                 fmt::join(names, ", "), suggestion(name, names)));
}

namespace {

/// The only point of the empty problem.
SolveResult empty_solution() {
  SolveResult result;
  result.status = Status::solved;
  result.solution.residual = 0;
  return result;
}

}  // namespace

SolveResult solve(const MlcpSolver& method, const Mlcp& problem, const SolveOptions& options) {
  validate(problem);
  SolveResult result;
  result.message = method.unsupported(problem);
  if (!result.message.empty()) {
    result.status = Status::not_supported;
    return result;
  }
  if (problem.p() + problem.m() == 0) return empty_solution();
  result = method.solve(problem, options);
  if (result.status != Status::solved) return result;
  Solution& point = result.solution;
  if (point.u.size() != problem.p() || point.lambda.size() != problem.m()) {
    result.status = Status::not_solved;
    result.message = fmt::format("{} returned a point of the wrong size", method.name);
    return result;
  }
  point.residual = residual(problem, point.u, point.lambda);
  if (!(point.residual <= options.tol)) {
    result.status = Status::not_solved;
    result.message = fmt::format("the answer of {} has residual {:.2e}, above {:.2e}", method.name,
                                 point.residual, options.tol);
  } else if (!settle(problem, point)) {
    result.status = Status::not_solved;
    result.message = fmt::format("the answer of {} is no solution to rounding: {}", method.name,
                                 describe_misfit(problem, point));
  }
  return result;
}

}  // namespace perp

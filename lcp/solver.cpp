#include <fmt/format.h>
#include <span>
#include <string>
#include <vector>

#include <perp/core/error.hpp>
#include <perp/core/nearest_name.hpp>
#include <perp/lcp/refine.hpp>
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

SolveResult solve(const MlcpSolver& method, const Mlcp& problem, const SolveOptions& options) {
  validate(problem);
  SolveResult result;
  result.message = method.unsupported(problem);
  if (!result.message.empty()) {
    result.status = Status::not_supported;
    return result;
  }
  result = method.solve(problem, options);
  if (result.status != Status::solved) return result;
  Solution& point = result.solution;
  if (point.u.size() != problem.p() || point.lambda.size() != problem.m()) {
    result.status = Status::not_solved;
    result.message = fmt::format("{} returned a point of the wrong size", method.name);
    return result;
  }
  point.w = output(problem, point.u, point.lambda);
  point.residual = residual(problem, point.u, point.lambda);
  if (!(point.residual <= options.tol)) {
    result.status = Status::not_solved;
    result.message = fmt::format("the answer of {} has residual {:.2e}, above {:.2e}", method.name,
                                 point.residual, options.tol);
    return result;
  }
  if (point.mode.size() != problem.laws.size())
    point.mode = nearest_mode(problem, point.u, point.lambda);
  return result;
}

}  // namespace perp

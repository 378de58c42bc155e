#include <fmt/format.h>
#include <string>

#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/refine.hpp>
#include <perp/lcp/solver.hpp>

namespace perp {
namespace {

std::string enumerates_all(const Mlcp& /*problem*/) { return {}; }

/// The first point of the complete enumeration: of each block the first vertex of its first piece.
SolveResult solve_by_enumeration(const Mlcp& problem, const SolveOptions& /*options*/) {
  const SolutionSet set = enumerate(problem);
  SolveResult result;
  result.iterations = set.nodes;
  Vector u = Vector::Zero(problem.p());
  Vector lambda = Vector::Zero(problem.m());
  Mode mode(problem.laws.size(), 0);
  for (const Block& block : set.blocks) {
    if (block.pieces.empty()) {
      result.status = set.complete ? Status::no_solution : Status::not_solved;
      result.message = set.complete ? "no mode has a solution" : set.certificate;
      return result;
    }
    const Piece& piece = block.pieces.front();
    const auto blocks_u = static_cast<Eigen::Index>(block.u.size());
    for (std::size_t i = 0; i < block.u.size(); ++i)
      u[block.u[i]] = piece.vertices(static_cast<Eigen::Index>(i), 0);
    for (std::size_t i = 0; i < block.lambda.size(); ++i) {
      lambda[block.lambda[i]] = piece.vertices(blocks_u + static_cast<Eigen::Index>(i), 0);
      mode[static_cast<std::size_t>(block.lambda[i])] = piece.modes.front()[i];
    }
  }
  result.solution = refined(problem, u, lambda, mode);
  result.status = Status::solved;
  return result;
}

constexpr MlcpSolver enumeration_methods[] = {
    {"enumerate", "first point of the complete enumeration; proves that there is no solution",
     enumerates_all, solve_by_enumeration},
};

}  // namespace

extern const MlcpSolvers enumeration;
const MlcpSolvers enumeration{enumeration_methods};

}  // namespace perp

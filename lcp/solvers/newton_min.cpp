#include <perp/lcp/enumeration/active_set.hpp>
#include <perp/lcp/refine.hpp>
#include <perp/lcp/solver.hpp>

namespace perp {
namespace {

std::string is_for_all(const Mlcp& /*problem*/) { return {}; }

SolveResult newton_min_solve(const Mlcp& problem, const SolveOptions& options) {
  const Scaling scaling = equilibrate(problem);
  const Mlcp unit = scaled(problem, scaling);
  const bool usable = options.present != nullptr && options.present->size() == problem.laws.size();
  ActiveSet set(unit, options.tol);
  if (!set.run(usable ? *options.present : Mode(problem.laws.size(), 0), most_points(problem, options.max_iterations))) {
    SolveResult result = solver("mode_search").solve(problem, options);
    result.iterations += set.iterations();
    return result;
  }
  const ModePoint& point = set.point();
  SolveResult result;
  result.status = Status::solved;
  result.iterations = set.iterations();
  result.solution = refined(problem, point.u.cwiseProduct(scaling.u_scale),
                            point.lambda.cwiseProduct(scaling.lambda_scale), set.mode());
  return result;
}

constexpr MlcpSolver newton_min_methods[] = {
    {"newton_min", "primal-dual active sets, single pivots against cycles, then mode_search", is_for_all,
     newton_min_solve},
};

}  // namespace

extern const MlcpSolvers newton_min;
const MlcpSolvers newton_min{newton_min_methods};

}  // namespace perp

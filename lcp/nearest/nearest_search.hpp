#pragma once

#include <string>

#include <perp/lcp/solution_set.hpp>

namespace perp {

struct NearestSearchOptions {
  long max_nodes = 1'000'000;       ///< nodes of the search tree, all blocks together
  double tol = solution_tolerance;  ///< largest accepted `residual`
};

/// One nearest solution and what was proved of the others.
struct ProvedNearest {
  Status status =
      Status::never_run;  ///< solved | no_solution (proved) | not_enumerated: not proved |
                          ///< not_solved: the nearest solution is beyond the largest double
  double norm = nan;      ///< ‖W (y - center)‖ of the solution; NaN without one
  double bound = 0;       ///< proved: no solution has a smaller norm
  Solution solution;      ///< meaningful where `norm` is a number
  long nodes = 0;
  std::string certificate{};  ///< one sentence: the bound, or how far it got
};

/// The nearest solution alone, without enumerating the others: branch and bound over the laws. A
/// node asks for the least norm over the polyhedron that its decided laws and the hulls of the
/// others leave (see NormRelaxation), with a proof by multipliers; it is cut where that is not
/// below the best solution so far, and closed where the point itself is a solution; else the law
/// that the point violates most is decided, the nearer branch first. Blocks that neither the
/// equations nor W couple are searched for themselves. The norms of solution and bound differ by at
/// most about 1e-8 relatively; equally near solutions are not listed (see `nearest`). Throws
/// InvalidInput where shapes do not fit.
ProvedNearest find_nearest(const Mlcp& problem, const Norm& norm,
                           const NearestSearchOptions& options = {});

}  // namespace perp

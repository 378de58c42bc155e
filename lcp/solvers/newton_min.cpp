#include <fmt/format.h>
#include <algorithm>
#include <limits>

#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/lcp/mode_point.hpp>
#include <perp/lcp/refine.hpp>
#include <perp/lcp/solver.hpp>

namespace perp {
namespace {

constexpr int patience = 10;  ///< block steps that need not lower the number of violated laws

/// The primal-dual active set method: every law that its branch's point violates moves to its nearest other
/// branch, all at once. Such steps end in finitely many where M = M22 - M21 M11⁻¹ M12 is an M-matrix, or its
/// inverse is one, and may cycle on other P-matrices from three laws on. So the number of violated laws has to
/// fall below its best within `patience` steps, else the first violated law alone moves until it does: Murty's
/// rule, which is finite for every P-matrix of laws with two branches (Kostreva 1978; Júdice and Pires 1994).
class ActiveSet {
 public:
  ActiveSet(const Mlcp& problem, double tolerance) : problem_(problem), tolerance_(tolerance) {}

  /// From a mode to an admissible one by at most `limit` modes. False: a mode on the way has no point, or they
  /// did not suffice.
  bool run(Mode mode, long limit) {
    std::size_t best = std::numeric_limits<std::size_t>::max();
    for (int left = patience; iterations_ < limit;) {
      check_interruption();
      ++iterations_;
      point_ = point_of_mode(problem_, mode, tolerance_);
      mode_ = mode;
      if (point_.violation == inf) return false;
      if (point_.violated.empty()) return true;
      const bool improves = point_.violated.size() < best;
      best = std::min(best, point_.violated.size());
      left = improves ? patience : left - 1;
      move(mode, left > 0);
    }
    return false;
  }

  [[nodiscard]] const Mode& mode() const { return mode_; }
  [[nodiscard]] const ModePoint& point() const { return point_; }
  [[nodiscard]] long iterations() const { return iterations_; }

 private:
  /// All violated laws, or the first of them.
  void move(Mode& mode, bool all) const {
    const Vector w = output(problem_, point_.u, point_.lambda);
    const int first = *std::min_element(point_.violated.begin(), point_.violated.end());
    for (const int law : point_.violated)
      if (all || law == first) mode[at(law)] = next_branch(problem_, mode_, point_, w, law);
  }

  const Mlcp& problem_;
  double tolerance_;
  Mode mode_;
  ModePoint point_;
  long iterations_ = 0;
};

std::string is_for_all(const Mlcp& /*problem*/) { return {}; }

SolveResult newton_min_solve(const Mlcp& problem, const SolveOptions& options) {
  const Scaling scaling = equilibrate(problem);
  const Mlcp unit = scaled(problem, scaling);
  const bool usable = options.present != nullptr && options.present->size() == problem.laws.size();
  ActiveSet set(unit, options.tol);
  if (!set.run(usable ? *options.present : Mode(problem.laws.size(), 0), options.max_iterations)) {
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

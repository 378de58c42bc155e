#include <fmt/format.h>
#include <algorithm>
#include <queue>
#include <set>
#include <vector>

#include <perp/core/base/index.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/lcp/mode_point.hpp>
#include <perp/lcp/refine.hpp>
#include <perp/lcp/solver.hpp>

namespace perp {
namespace {

constexpr int largest_search = 20'000;  ///< modes tried, whatever the caller allows

/// A mode with its point.
struct Candidate {
  ModePoint point;
  long order = 0;  ///< of discovery; makes the search deterministic
  Mode mode;

  friend bool operator>(const Candidate& a, const Candidate& b) {
    return std::pair(a.point.violation, a.order) > std::pair(b.point.violation, b.order);
  }
};

/// Best-first search over modes: the one whose point is nearest to its own branches is continued
/// first, by moving all violated laws to their nearest branch, or the worst one alone. On a
/// P-matrix the first kind of move is the primal-dual active set method; the second makes up for
/// its cycles.
class Search {
 public:
  Search(const Mlcp& problem, double tol) : problem_(problem), tol_(tol) {}

  /// Adds a mode unless it was met before.
  void add(const Mode& mode) {
    check_interruption();
    if (!met_.insert(mode).second) return;
    open_.push({point_of_mode(problem_, mode, tol_), ++count_, mode});
  }

  /// The admissible mode found within `limit` modes, or nothing.
  bool run(long limit, Candidate& found) {
    while (!open_.empty()) {
      const Candidate best = open_.top();
      open_.pop();
      if (best.point.violation <= tol_) {
        found = best;
        return true;
      }
      if (count_ >= limit) return false;
      expand(best);
    }
    return false;
  }

  [[nodiscard]] long count() const { return count_; }

 private:
  void expand(const Candidate& from) {
    if (from.point.violation == inf) {  // singular and inconsistent: every neighbour may be meant
      for (std::size_t i = 0; i < from.mode.size(); ++i)
        for (int k = 0; k < static_cast<int>(problem_.laws[i].branches.size()); ++k) {
          Mode mode = from.mode;
          mode[i] = k;
          add(mode);
        }
      return;
    }
    const Vector w = output(problem_, from.point.u, from.point.lambda);
    const std::vector<int>& violated = from.point.violated;
    Mode all = from.mode;
    for (const int i : violated) all[at(i)] = next_branch(problem_, from.mode, from.point, w, i);
    const auto add_one = [&](int i) {
      Mode one = from.mode;
      one[at(i)] = all[at(i)];
      add(one);
    };
    if (!violated.empty()) add_one(violated.front());
    add(all);
    for (const int i : violated) add_one(i);
  }

  const Mlcp& problem_;
  double tol_;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> open_;
  std::set<Mode> met_;
  long count_ = 0;
};

std::string supports_all(const Mlcp& /*problem*/) { return {}; }

double modes_of(const Mlcp& problem) {
  double modes = 1;
  for (const Law& law : problem.laws) modes *= static_cast<double>(law.branches.size());
  return modes;
}

/// Where the search ends without a solution the few modes there are decide.
SolveResult solve_by_enumeration(const Mlcp& problem, long iterations) {
  SolveResult result = solver("enumerate").solve(problem, {});
  result.iterations += iterations;
  return result;
}

SolveResult search(const Mlcp& problem, const SolveOptions& options) {
  SolveResult result;
  const Scaling scaling = equilibrate(problem);
  const Mlcp unit = scaled(problem, scaling);
  Search modes(unit, options.tol);
  const bool usable = options.present != nullptr && options.present->size() == problem.laws.size();
  modes.add(usable ? *options.present : Mode(problem.laws.size(), 0));
  Candidate found;
  const long limit = most_points(problem, std::min(options.max_iterations, largest_search));
  const bool solved = modes.run(limit, found);
  result.iterations = modes.count();
  if (!solved && modes_of(problem) <= static_cast<double>(limit))
    return solve_by_enumeration(problem, result.iterations);
  if (!solved) {
    result.status = Status::not_solved;
    result.message =
        fmt::format("no admissible mode among the {} nearest to the start", modes.count());
    return result;
  }
  result.status = Status::solved;
  result.solution = refined(problem, found.point.u.cwiseProduct(scaling.u_scale),
                            found.point.lambda.cwiseProduct(scaling.lambda_scale), found.mode);
  return result;
}

constexpr MlcpSolver mode_search_methods[] = {
    {"mode_search", "present mode first, then its neighbours, nearest to admissible first",
     supports_all, search},
};

}  // namespace

extern const MlcpSolvers mode_search;
const MlcpSolvers mode_search{mode_search_methods};

}  // namespace perp

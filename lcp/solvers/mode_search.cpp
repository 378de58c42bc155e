#include <fmt/format.h>
#include <algorithm>
#include <queue>
#include <set>
#include <vector>

#include <perp/core/branches.hpp>
#include <perp/core/linear/lu.hpp>
#include <perp/lcp/parametric/mode_equations.hpp>
#include <perp/lcp/refine.hpp>
#include <perp/lcp/solver.hpp>

namespace perp {
namespace {

constexpr int largest_search = 20'000;  ///< modes tried, whatever the caller allows
constexpr double contradicted = 1e-9;   ///< of a row's terms: its equation does not hold

/// A mode with the point that its equations determine and how far that is from its branches.
struct Candidate {
  double violation = inf;  ///< sum over the laws of the distance from the mode's branch
  long order = 0;          ///< of discovery; makes the search deterministic
  Mode mode;
  Vector u, lambda;
  std::vector<int> violated;  ///< laws off their branch, the worst first

  friend bool operator>(const Candidate& a, const Candidate& b) {
    return std::pair(a.violation, a.order) > std::pair(b.violation, b.order);
  }
};

double distance_to_branch(const Law& law, int branch, double w, double lambda) {
  return distance(Law{law.name, {law.branches[static_cast<std::size_t>(branch)]}, false}, w,
                  lambda);
}

/// Best-first search over modes: the one whose point is nearest to its own branches is continued
/// first, by moving all violated laws to their nearest branch, or the worst one alone. On a
/// P-matrix the first kind of move is the primal-dual active set method; the second makes up for
/// its cycles.
class Search {
 public:
  Search(const Mlcp& problem, double tol) : problem_(problem), tol_(tol) {}

  /// Adds a mode unless it was met before.
  void add(const Mode& mode) {
    if (!met_.insert(mode).second) return;
    Candidate candidate;
    candidate.mode = mode;
    candidate.order = ++count_;
    evaluate(candidate);
    open_.push(std::move(candidate));
  }

  /// The admissible mode found within `limit` modes, or nothing.
  bool run(long limit, Candidate& found) {
    while (!open_.empty()) {
      const Candidate best = open_.top();
      open_.pop();
      if (best.violation <= tol_) {
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
  void evaluate(Candidate& candidate) const {
    const int p = problem_.p(), m = problem_.m();
    const Matrix K = mode_matrix(problem_, candidate.mode);
    const Vector r = mode_constant(problem_, candidate.mode);
    const Vector y = linear::FullLu(K).solve(r);
    candidate.u = y.head(p);
    candidate.lambda = y.tail(m);
    // Each row beside its own terms: a singular mode whose equations contradict each other has no point.
    const Vector terms = K.cwiseAbs() * y.cwiseAbs() + r.cwiseAbs();
    if (!y.allFinite() || ((K * y - r).cwiseAbs().array() > contradicted * terms.array()).any())
      return;
    const Vector w = output(problem_, candidate.u, candidate.lambda);
    std::vector<std::pair<double, int>> violated;
    candidate.violation = 0;
    for (int i = 0; i < m; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const double d =
          distance_to_branch(problem_.laws[k], candidate.mode[k], w[i], candidate.lambda[i]);
      if (d > tol_) violated.emplace_back(-d, i);
      candidate.violation += d;
    }
    std::sort(violated.begin(), violated.end());
    for (const auto& [d, i] : violated) candidate.violated.push_back(i);
  }

  void expand(const Candidate& from) {
    if (from.violation == inf) {  // singular and inconsistent: every neighbour may be meant
      for (std::size_t i = 0; i < from.mode.size(); ++i)
        for (int k = 0; k < static_cast<int>(problem_.laws[i].branches.size()); ++k) {
          Mode mode = from.mode;
          mode[i] = k;
          add(mode);
        }
      return;
    }
    const Vector w = output(problem_, from.u, from.lambda);
    Mode all = from.mode;
    for (const int i : from.violated) {
      const auto k = static_cast<std::size_t>(i);
      Mode one = from.mode;
      one[k] = all[k] = nearest_branch(problem_.laws[k], w[i], from.lambda[i], from.mode[k]);
      if (i == from.violated.front()) add(one);
    }
    add(all);
    for (const int i : from.violated) {
      const auto k = static_cast<std::size_t>(i);
      Mode one = from.mode;
      one[k] = all[k];
      add(one);
    }
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
  const long limit = std::min(options.max_iterations, largest_search);
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
  result.solution = refined(problem, found.u.cwiseProduct(scaling.u_scale),
                            found.lambda.cwiseProduct(scaling.lambda_scale), found.mode);
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

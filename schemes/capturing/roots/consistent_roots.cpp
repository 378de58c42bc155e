// Which root of the algebraic equations a solution of a step is on: these tell algebraic variables as functions of time and of the
// variables with rates, and such a function is followed from the present state to where the solution ends, through the modes on
// its way. Called where NonlinearCapturing chooses between solutions.
#include <algorithm>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/schemes/capturing/nonlinear_capturing.hpp>

namespace perp {
namespace {

/// Of each equation and of the argument of each law: the algebraic variables in it.
template <class Condition>
std::vector<std::vector<int>> algebraic_unknowns(const std::vector<DcsEvaluator::Entry>& entries, int n, int m, const Condition& is_algebraic) {
  std::vector<std::vector<int>> rows(at(n + m));
  for (const auto& [row, column] : entries)
    if (const int variable = column - 1 - n; variable >= 0 && variable < n && is_algebraic(variable)) rows[at(row)].push_back(variable);
  return rows;
}

/// Of each of them: is a derivative in it?
std::vector<char> rows_with_rates(const std::vector<DcsEvaluator::Entry>& entries, int n, int m) {
  std::vector<char> has_rates(at(n + m), 0);
  for (const auto& [row, column] : entries)
    if (column > 0 && column <= n) has_rates[at(row)] = 1;
  return has_rates;
}

bool holds_one(const std::vector<int>& row, const std::vector<char>& is_joined) {
  return std::ranges::any_of(row, [&](int j) { return is_joined[at(j)] != 0; });
}

/// All of the row. Were some of them not yet?
bool join(const std::vector<int>& row, std::vector<char>& is_joined) {
  bool grows = false;
  for (const int j : row) grows = is_joined[at(j)] == 0 || grows, is_joined[at(j)] = 1;
  return grows;
}

}  // namespace

/// A solution that is found elsewhere than by the search, with all that this says of one.
void NonlinearCapturing::write(ModeSolution& solution) {
  step_.set_mode(solution.mode);
  step_.linearise(solution.d, solution.lambda);
  solution.norm = step_.norm(solution.d);
  solution.residual = step_.bound(solution.d, solution.lambda);
  search_.write_errors(solution);
}

/// `end`: the state on the root of the present one with the same variables with rates, where that is known.
NonlinearCapturing::Root NonlinearCapturing::root_of(double h, const ModeSolution& solution, std::optional<RootPath::Point>& end) {
  if (!step_.laws_of_rates().empty()) return Root::unknown;  // states do not tell their arguments
  ++followed_;
  const State& now = current();
  const double length = trial().t - now.t;
  const std::vector<int> rooted = rooted_variables(solution.mode);
  Vector of_roots = solution.d, way = solution.d;  // of algebraic variables, and of those with rates
  for (int j = 0; j < step_.n(); ++j) (is_algebraic(j) ? way : of_roots)[j] = 0;
  const auto go_to = [&](double share) {
    step_.set_consistency(now.x + share * way, share == 1 ? trial().t : now.t + share * length);
  };
  end = RootPath(step_, newton_, go_to, rooted).follow(mode(), now.lambda, 1);
  Root root = Root::unknown;
  if (end) {
    go_to(1);
    step_.set_mode(solution.mode);
    step_.linearise(of_roots, solution.lambda);
    step_.bound(of_roots, solution.lambda);
    if (newton_.factorise())
      root = newton_.leads_straight(end->d, end->lambda, of_roots, solution.lambda, rooted, nothing_) ? Root::own : Root::other;
  }
  set_step(trial().t, h);
  return root;
}

/// The solution of the step near a consistent state on the root of the present one, at which another solution ends.
std::optional<ModeSolution> NonlinearCapturing::solution_from(double h, const RootPath::Point& end, const ModeSolution& other) {
  ModeSolution solution{.mode = end.mode, .d = end.d, .lambda = end.lambda, .w = end.w};
  for (int j = 0; j < step_.n(); ++j)
    if (!is_algebraic(j)) solution.d[j] = other.d[j];
  step_.set_mode(solution.mode);
  if (newton_.run(solution.d, solution.lambda) != NewtonEnd::converged) return std::nullopt;
  const Admission admission = newton_.admit(solution.d, solution.lambda, solution.w);
  if (admission == Admission::outside) return std::nullopt;
  solution.weak = admission == Admission::weak;
  solution.orientation = newton_.orientation();
  write(solution);
  std::optional<RootPath::Point> own_end;
  const bool is_new = !same_point(solution.d, other.d, solution.d_error, solution.d_error);
  if (!is_new || root_of(h, solution, own_end) != Root::own) return std::nullopt;
  solution.on_own_root = true;
  return solution;
}

/// Which laws have an argument that holds one of these variables, or algebraic ones that algebraic equations join with them? Their
/// branches are a matter of the root, those of other laws one of the motion.
std::vector<char> NonlinearCapturing::laws_of_roots(const std::vector<int>& variables) {
  const int n = step_.n();
  const std::vector<std::vector<int>> rows =
      algebraic_unknowns(step_.evaluator().entries(), n, step_.m(), [this](int j) { return is_algebraic(j); });
  const std::vector<char> has_rates = rows_with_rates(step_.evaluator().entries(), n, step_.m());
  std::vector<char> is_joined(at(n), 0), of_roots;
  for (const int variable : variables) is_joined[at(variable)] = 1;
  for (bool grows = true; std::exchange(grows, false);)
    for (int i = 0; i < n; ++i)
      if (has_rates[at(i)] == 0 && holds_one(rows[at(i)], is_joined)) grows = join(rows[at(i)], is_joined) || grows;
  for (int i = 0; i < step_.m(); ++i) of_roots.push_back(holds_one(rows[at(n + i)], is_joined) ? 1 : 0);
  return of_roots;
}

}  // namespace perp

// Which of several roots of the equations of one mode a step of NonlinearCapturing takes: algebraic variables go on from where
// they are, whatever the norm of the motion says, which they have no part in.
#include <algorithm>
#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/schemes/capturing/nonlinear_capturing.hpp>
#include <perp/schemes/capturing/roots/root_path.hpp>
#include <perp/schemes/step/step_gate.hpp>

namespace perp {
namespace {

constexpr double as_near = 0x1p-8;  ///< relative difference of distances from a guess, of what states move in the first short steps

}  // namespace

/// The algebraic variables that the equations of the mode are not linear in: they may have other roots.
const std::vector<int>& NonlinearCapturing::rooted_variables(const Mode& mode) {
  step_.set_mode(mode);
  rooted_.clear();
  for (const int unknown : step_.curved_unknowns())
    if (unknown < step_.n() && is_algebraic(unknown)) rooted_.push_back(unknown);
  return rooted_;
}

/// May the step by d in the present mode, which was guessed, have come to another root of an algebraic variable that has some? On
/// the way to one lies 0, or the guess was farther off than most of the way.
bool NonlinearCapturing::may_leave_root(const Vector& d) const {
  const Vector& x = current().x;
  return std::ranges::any_of(step_.curved_unknowns(), [&](int j) {
    if (j >= step_.n() || !is_algebraic(j)) return false;
    const bool turns = (x[j] < 0) != (x[j] + d[j] < 0) && x[j] != 0;
    const double way = std::abs(d[j]);
    return turns || (std::abs(d[j] - guess_[j]) > most_missed * way && way > least_apart * std::abs(x[j]));
  });
}

/// Does the solution found last, in the present mode, belong to the root that the present state is on? It is asked where it
/// may not. Where no chain of solutions leads on from the present state, it stands, as behind impulses of algebraic variables.
bool NonlinearCapturing::stays_on_root(double h) {
  const State& now = current();
  State& next = trial();
  if (now.fresh) return true;
  step_.set_mode(*now.mode);
  if (!may_leave_root(next.d)) return true;
  if (newton_.leads_straight(nothing_, now.lambda, next.d, next.lambda, rooted_variables(*now.mode), nothing_)) return true;
  const Vector d = next.d, lambda = next.lambda;
  if (follow_branch(h)) return true;
  next.d = d;
  next.lambda = lambda;
  return newton_.run(next.d, next.lambda) == NewtonEnd::converged;
}

/// The step in the present mode with multipliers on its branches where it begins: a law that is steep moves them far in a
/// step, and equations that they enter would lead Newton's method anywhere.
bool NonlinearCapturing::solve_on_branches(double h) {
  const State& now = current();
  State& next = trial();
  if (step_.free_laws().empty() || step_.curved_unknowns().empty()) return false;
  set_step(next.t, h);
  step_.set_mode(*now.mode);
  predict(h, next.d);
  guess_ = next.d;
  next.lambda = now.lambda;
  newton_.put_on_branches(next.d, next.lambda);
  return newton_.run_near(next.d, next.lambda) == NewtonEnd::converged && is_on_branch(h);
}

/// Leaves out of the solutions of the mode of `best`, the one that is chosen, those on other roots than the one that goes on
/// from the present state; at a start, from its guess. False: none is known to be on another root.
bool NonlinearCapturing::keep_root(double h, const ModeSolution& best, FoundSolutions& found) {
  const bool is_own = knows_mode() && best.mode == mode();
  if (!is_first_order_ || is_own || rooted_variables(best.mode).empty()) return false;
  const ModeSolution chosen = best;
  if (!start_pending_ && !current().fresh) {
    if (is_reached_straight(chosen)) return false;
    if (keep_connected_root(h, chosen, found)) return true;
  }
  const auto of_mode = [&](const ModeSolution& solution) { return solution.mode == chosen.mode; };
  return std::ranges::count_if(found.list, of_mode) > 1 && keep_nearest_root(h, chosen, found);
}

/// Does the matrix at the solution lead there from the present state at once? Then no other root is on the way.
bool NonlinearCapturing::is_reached_straight(const ModeSolution& solution) {
  set_step(trial().t, trial().h);
  return newton_.leads_straight(nothing_, current().lambda, solution.d, solution.lambda, rooted_variables(solution.mode), nothing_);
}

/// The solution that the present one becomes on the way, in place of all others of its mode. False: none is known.
bool NonlinearCapturing::keep_connected_root(double h, const ModeSolution& best, FoundSolutions& found) {
  ++followed_;
  const double now = t(), next = trial().t;
  RootPath path(step_, newton_, [&](double length) { set_step(length == h ? next : now + length, length); },
                rooted_variables(best.mode));
  const std::optional<RootPath::Point> end = path.follow(mode(), current().lambda, h);
  set_step(next, h);
  if (!end || end->mode != best.mode) return false;
  ModeSolution root{.mode = end->mode, .d = end->d, .lambda = end->lambda, .w = end->w};
  step_.set_mode(root.mode);
  step_.linearise(root.d, root.lambda);
  root.norm = step_.norm(root.d);
  root.residual = step_.bound(root.d, root.lambda);
  search_.write_errors(root);
  const auto is_root = [&](const ModeSolution& solution) {
    return solution.mode == root.mode && same_point(solution.d, root.d, solution.d_error, root.d_error);
  };
  std::erase_if(found.list, [&](const ModeSolution& solution) { return solution.mode == root.mode && !is_root(solution); });
  if (std::ranges::none_of(found.list, is_root)) found.list.insert(found.list.begin(), std::move(root));
  return true;
}

/// How far variables go, in their units.
double NonlinearCapturing::way_of(const std::vector<int>& variables, const Vector& d) const {
  double sum = 0;
  for (const int j : variables) sum = std::hypot(sum, std::ldexp(d[j], -step_.units()[j]));
  return sum;
}

/// Is it a solution that begins here: in a quarter of the step, with the same root, does ‖E d‖ shrink?
bool NonlinearCapturing::begins_here(double h, const ModeSolution& solution) {
  set_step(t() + h / 4, h / 4);
  step_.set_mode(solution.mode);
  Vector d = solution.d, lambda = solution.lambda;
  for (int j = 0; j < step_.n(); ++j)
    if (!is_algebraic(j)) d[j] /= 4;
  const bool is_solved = newton_.run_near(d, lambda) == NewtonEnd::converged && newton_.is_local();
  const bool begins = is_solved && step_.norm(d) <= solution.norm / 2 + solution.norm_error;
  set_step(trial().t, h);
  return begins;
}

/// Of the solutions of this mode that begin here, the nearest ones in the algebraic variables that have roots. False: the one
/// that is chosen is none of them.
bool NonlinearCapturing::keep_nearest_root(double h, const ModeSolution& best, FoundSolutions& found) {
  const std::vector<int> variables = rooted_variables(best.mode);
  const auto of_mode = [&](const ModeSolution& solution) { return solution.mode == best.mode; };
  if (!begins_here(h, best)) return false;
  double least = way_of(variables, best.d);
  std::vector<double> ways;
  for (const ModeSolution& solution : found.list) {
    ways.push_back(of_mode(solution) && begins_here(h, solution) ? way_of(variables, solution.d) : -1);
    if (ways.back() >= 0) least = std::min(least, ways.back());
  }
  std::size_t k = 0;
  std::erase_if(found.list, [&](const ModeSolution&) { return ways[k++] > (1 + as_near) * least; });
  return true;
}

}  // namespace perp

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

constexpr int short_length = -20;     ///< h·2^k of the short steps in a mode
constexpr double as_near = 0x1p-8;  ///< relative difference of distances from a guess, of what states move in the first short steps

bool is_same(const ModeSolution& a, const ModeSolution& b) {
  return a.mode == b.mode && same_point(a.d, b.d, a.d_error, b.d_error);
}

/// Do two modes differ in nothing but these laws?
bool differs_in(const std::vector<char>& laws, const Mode& a, const Mode& b) {
  for (std::size_t i = 0; i < laws.size(); ++i)
    if (laws[i] == 0 && a[i] != b[i]) return false;
  return true;
}

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
/// the way to one lies 0, or the guess is not known to be near: it was off by a part of the way, or it is that of a shorter step.
bool NonlinearCapturing::may_leave_root(const Vector& d) const {
  const Vector& x = current().x;
  const bool is_longer = trial().h > current().h;
  return std::ranges::any_of(step_.curved_unknowns(), [&](int j) {
    if (j >= step_.n() || !is_algebraic(j)) return false;
    const bool turns = (x[j] < 0) != (x[j] + d[j] < 0) && x[j] != 0;
    const double way = std::abs(d[j]);
    return turns || ((is_longer || std::abs(d[j] - guess_[j]) > most_missed * way) && way > least_apart * std::abs(x[j]));
  });
}

/// Does the solution found last, in the present mode, belong to the root that the present state is on? It is asked where it
/// may not. Where no chain of solutions leads on from the present state, it stands, as behind impulses of algebraic variables.
bool NonlinearCapturing::stays_on_root(double h) {
  const State& now = current();
  State& next = trial();
  step_.set_mode(*now.mode);
  if (!may_leave_root(next.d)) return true;
  if (newton_.leads_straight(nothing_, now.lambda, next.d, next.lambda, rooted_variables(*now.mode), nothing_)) return true;
  const Vector d = next.d, lambda = next.lambda;
  if (follow_branch(h)) return true;
  std::optional<RootPath::Point> end;
  if (root_of(h, {.mode = *now.mode, .d = d, .lambda = lambda, .w = next.w}, end) == Root::other) return false;
  step_.set_mode(*now.mode);
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

/// The solution of least norm, see StepSearch::choose, on the root that the present state is on as far as that is known:
/// a selector chooses between modes, not between roots. The list may become empty.
std::size_t NonlinearCapturing::choose(double h, const Mode& present, FoundSolutions& found, int& solutions, int& ties) {
  const std::size_t most = 2 * found.list.size();  // of each a root may be found instead
  std::size_t best = search_.choose(found, present, solutions, ties);
  for (std::size_t k = 0; k < most && keep_root(h, found.list[best], found) && !found.list.empty(); ++k)
    best = search_.choose(found, present, solutions, ties);
  return best;
}

/// May the solution be on another root than the present state?
bool NonlinearCapturing::asks_for_root(const ModeSolution& solution) {
  const bool is_own = knows_mode() && solution.mode == mode();
  return is_first_order_ && !is_own && !solution.on_own_root && !rooted_variables(solution.mode).empty();
}

/// Leaves out of the solutions `best`, the one that is chosen, or others of its mode, which are on other roots than the one
/// that goes on from the present state; at a start, than the one nearest to the guess. False: nothing has changed.
bool NonlinearCapturing::keep_root(double h, const ModeSolution& best, FoundSolutions& found) {
  if (!asks_for_root(best)) return false;
  const ModeSolution chosen = best;
  if (start_pending_) return keep_nearest_root(h, chosen, found);
  if (is_reached_straight(h, chosen)) return false;
  const std::optional<ModeSolution> connected = connected_root(h, chosen);
  if (!connected || connected->mode != chosen.mode) return leave_root(h, chosen, connected, found);
  keep_in_mode(*connected, found);
  return true;
}

/// Leaves out the solution that is chosen where it is on another root than the present state, or where it alone is not known to go on
/// from there: for that one which does, or ends there on the own root, in its place. False: nothing has changed.
bool NonlinearCapturing::leave_root(double h, const ModeSolution& chosen, const std::optional<ModeSolution>& connected,
                                    FoundSolutions& found) {
  std::optional<RootPath::Point> end;
  const Root root = root_of(h, chosen, end);
  if (root == Root::own) return false;
  if (root == Root::unknown && !connected) return keep_nearest_root(h, chosen, found);
  std::erase_if(found.list, [&](const ModeSolution& solution) { return is_same(solution, chosen); });
  left_branch_ = true;
  if (connected) keep_in_mode(*connected, found);
  if (root != Root::other) return true;
  if (const std::optional<ModeSolution> own = solution_from(h, *end, chosen)) keep_in_mode(*own, found);
  return true;
}

/// Does the matrix at the solution lead there from the present state at once, and is it that of short steps in its mode but for
/// what changes no sign of its determinant? Then no other root is on the way.
bool NonlinearCapturing::is_reached_straight(double h, const ModeSolution& solution) {
  set_step(trial().t, h);
  return newton_.leads_straight(nothing_, current().lambda, solution.d, solution.lambda, rooted_variables(solution.mode), nothing_) &&
         begins_as(h, solution);
}

/// Has the matrix of a short step in the mode of the solution, from the present state, its orientation?
bool NonlinearCapturing::begins_as(double h, const ModeSolution& solution) {
  const double shorter = std::ldexp(h, short_length);
  Vector lambda = current().lambda;
  set_step(t() + shorter, shorter);
  step_.set_mode(solution.mode);
  newton_.put_on_branches(nothing_, lambda);
  const int orientation = step_.linearise(nothing_, lambda) ? newton_.orientation_here() : 0;
  set_step(trial().t, h);
  return orientation == 0 || solution.orientation == 0 || orientation == solution.orientation;
}

/// The solution that the present one becomes on the way, as the step grows from 0. Nothing: none is known.
std::optional<ModeSolution> NonlinearCapturing::connected_root(double h, const ModeSolution& best) {
  ++followed_;
  const double now = t(), next = trial().t;
  RootPath path(step_, newton_, [&](double length) { set_step(length == h ? next : now + length, length); },
                rooted_variables(best.mode));
  const std::optional<RootPath::Point> end = path.follow(mode(), current().lambda, h);
  set_step(next, h);
  if (!end) return std::nullopt;
  ModeSolution root{.mode = end->mode, .d = end->d, .lambda = end->lambda, .w = end->w};
  root.on_own_root = true;
  write(root);
  return root;
}

/// Such a root in place of all other solutions of its mode.
void NonlinearCapturing::keep_in_mode(const ModeSolution& root, FoundSolutions& found) {
  std::erase_if(found.list, [&](const ModeSolution& solution) { return solution.mode == root.mode; });
  found.list.insert(found.list.begin(), root);
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
  newton_.put_on_branches(d, lambda);  // that of a steep law moves by more than what is left where a large argument cancels
  const bool is_solved = newton_.run_near(d, lambda) == NewtonEnd::converged && newton_.is_local();
  const bool begins = is_solved && step_.norm(d) <= solution.norm / 2 + solution.norm_error;
  set_step(trial().t, h);
  return begins;
}

/// Of the solutions that begin here, and whose modes differ in nothing but laws of such algebraic variables from the one
/// that is chosen, the nearest ones in these. False: there is no other.
bool NonlinearCapturing::keep_nearest_root(double h, const ModeSolution& best, FoundSolutions& found) {
  const std::vector<int> variables = rooted_variables(best.mode);
  const std::vector<char> of_roots = laws_of_roots(variables);
  const auto is_alike = [&](const ModeSolution& solution) { return differs_in(of_roots, solution.mode, best.mode); };
  if (std::ranges::count_if(found.list, is_alike) < 2 || !begins_here(h, best)) return false;
  double least = way_of(variables, best.d);
  std::vector<double> ways;
  for (const ModeSolution& solution : found.list) {
    ways.push_back(is_alike(solution) && begins_here(h, solution) ? way_of(variables, solution.d) : -1);
    if (ways.back() >= 0) least = std::min(least, ways.back());
  }
  std::size_t k = 0;
  return std::erase_if(found.list, [&](const ModeSolution&) { return ways[k++] > (1 + as_near) * least; }) > 0;
}

}  // namespace perp

// What a step of NonlinearCapturing moves and which branches end on its way: what the safeguard of a
// change of mode asks.
#include <algorithm>
#include <cmath>

#include <perp/schemes/capturing/nonlinear_capturing.hpp>

namespace perp {
namespace {

constexpr int longest_leap = -30;  ///< h·2^longest_leap is a moment: what a step of it moves further than its mode is a jump
constexpr int most_leaps = 32;     ///< within half a step, of which every mode is asked

/// The share of a step at which a value that goes straight from `from`, in a range, to `to` leaves it,
/// inside the step or, where it only comes nearer to an end, beyond.
void watch(const Range& range, double from, double to, bool beyond, double& share) {
  const auto end = [&](double margin_before, double margin_after) {
    const double start = std::max(0.0, margin_before);
    if (std::isfinite(start) && margin_after < start && (margin_after < 0) != beyond)
      share = std::min(share, start / (start - margin_after));
  };
  end(from - range.lower, to - range.lower);
  end(range.upper - from, range.upper - to);
}

}  // namespace

/// Does a step of a moment lead farther than the motion of the mode before, d, explains: is it a jump? A nearer one may
/// not have been found easily.
bool NonlinearCapturing::leaps(double h, const FoundSolutions& found, const Vector& d) {
  if (h > std::ldexp(options_.h, longest_leap) || leaps_ == most_leaps) return false;
  const double reach = 2 * step_.norm(d);
  if (std::ranges::any_of(found.list, [&](const ModeSolution& solution) { return solution.norm <= reach; })) return false;
  ++leaps_;
  return true;
}

/// Every mode, where nothing was found easily, or a leap alone. That is found: for a nearer solution no more than half of the
/// work that is left is done, and the leap stands where that runs out.
FoundSolutions NonlinearCapturing::search_all(const Mode& present, const Vector& d, const ModeSolution* own,
                                              FoundSolutions leap) {
  const long left = newton_.left(), before = newton_.iterations();
  if (!leap.list.empty()) newton_.allow(left / 2);
  FoundSolutions found = search_.all(present, d, current().lambda);
  const bool has_run_out = newton_.left() == 0;
  newton_.allow(std::max(0L, left - (newton_.iterations() - before)));
  if (has_run_out && !leap.list.empty()) {
    leaps_ = most_leaps;  // what ran out once does so again, and the steps themselves need the rest
    leap.all_modes = false;
    return leap;
  }
  keep_own_branch(own, found);
  return found;
}

void NonlinearCapturing::linearise_trial() const {
  const State& next = trial();
  set_step(next.t, next.h);  // of the last attempt
  step_.set_mode(*next.mode);
  step_.linearise(next.d, next.lambda);
}

double NonlinearCapturing::attempted_norm() const {
  linearise_trial();
  return step_.norm(trial().d);
}

/// The rows ∂F/∂ẋ (b − a) may be weighted by the state, even by 0 at one end: of each row the larger
/// one of both.
template <class Rows>
Vector NonlinearCapturing::larger_motion(const Vector& a, const Vector& b, const Rows& rows) const {
  const Vector rate = trial().h > 0 ? Vector(trial().d / trial().h) : Vector::Zero(step_.n());
  const Vector first = rows(rate, a), last = rows(rate, b);
  return (first.array().abs() > last.array().abs()).select(first, last);
}

Vector NonlinearCapturing::motion(const Vector& a, const Vector& b) const {
  return larger_motion(a, b, [&](const Vector& rate, const Vector& x) {
    return step_.motion(trial().t, rate, x, current().lambda, b - a);
  });
}

Vector NonlinearCapturing::motion_terms(const Vector& a, const Vector& b) const {
  return larger_motion(a, b, [&](const Vector& rate, const Vector& x) {
    return step_.motion_terms(trial().t, rate, x, current().lambda, a.cwiseAbs() + b.cwiseAbs());
  });
}

/// |J⁻¹| (|F| + e) of the step that led here.
Vector NonlinearCapturing::rounding() {
  const State &now = current(), &before = previous();
  if (!(now.h > 0)) return Scheme::rounding();
  step_.set_theta(now.is_first_order ? 1 : theta_);
  step_.set_step(before.x, now.t, now.h);
  step_.set_mode(*now.mode);
  std::optional<Vector> bounds = errors_of(now);
  if (!bounds) return Scheme::rounding();
  for (int j = 0; j < step_.n(); ++j) (*bounds)[j] += step_.variable_error(j);
  return *std::move(bounds);
}

/// Bounds of the errors of d of the step that led to a state, which is set with its mode. Nothing: its matrix is singular.
std::optional<Vector> NonlinearCapturing::errors_of(const State& state) {
  step_.linearise(state.d, state.lambda);
  step_.bound(state.d, state.lambda);
  if (!newton_.factorise()) return std::nullopt;
  Vector bounds(step_.n()), of_lambda(step_.m());
  newton_.errors(bounds, of_lambda);
  return bounds;
}

/// The solution of the present mode that was found last lies beyond its ranges: from it its departures are told. Multipliers
/// that were put on their bounds are none of it.
void NonlinearCapturing::keep_end() {
  State& next = trial();
  next.knows_end = theta_ == 1 && !newton_.has_moved();
  if (!next.knows_end) return;
  next.end_d = next.d, next.end_lambda = next.lambda, next.end_w = next.w;
}

/// The step from the current state where it was asked for of late. The guess that the state gives decides among several solutions.
std::optional<Attempt> NonlinearCapturing::known_attempt(double t_next, double h) {
  const State& now = current();
  if (looks_for_end_ || start_pending_) return std::nullopt;
  for (const Answer& known : answers_) {
    const bool is_asked = known.to.t == t_next && known.to.h == h && known.from.is_at(now);
    if (!is_asked || !(known.to.is_alone || (known.from.h == now.h && known.from.d == now.d))) continue;
    trial() = known.to;
    is_first_order_ = known.to.is_first_order;
    return known.attempt;
  }
  return std::nullopt;
}

/// The attempted step, if it may be asked for again: one that leaves its mode. Resets make more of a step than its ends tell.
void NonlinearCapturing::remember(const Attempt& attempt) {
  if (looks_for_end_ || start_pending_ || attempt.kept_mode || attempt.status != Status::solved || has_resets()) return;
  answers_[next_answer_] = {current(), trial(), attempt};
  next_answer_ = (next_answer_ + 1) % answers_.size();
}

std::vector<Scheme::Departure> NonlinearCapturing::departures() {
  const State& before = previous();
  const State& now = current();
  old_mode_lasts_ = true;
  if (before.mode->size() != step_.laws().size() || !(now.t > before.t)) return {};
  // Where would the step have ended in the old mode? Its margins go there from their present ones.
  State& end_of_old = trial();
  end_of_old.t = now.t;
  end_of_old.h = now.h > 0 ? now.h : now.t - before.t;  // what the grid says of h is rounded
  if (now.knows_end) {
    end_of_old.d = now.end_d, end_of_old.lambda = now.end_lambda;
    return branch_ends(before, now.end_lambda, now.end_w, false);
  }
  std::swap(now_, previous_);
  is_first_order_ = theta_ == 1 || current().begins;
  set_step(end_of_old.t, end_of_old.h);
  old_mode_lasts_ = solve_mode(end_of_old.h);
  std::swap(now_, previous_);
  if (!old_mode_lasts_) return {};
  const Vector& lambda = end_of_old.lambda;
  Vector w(step_.m());
  step_.w(w);
  return branch_ends(before, lambda, w, false);
}

/// Of a step in the mode of `before`, to (λ, w): where its branches end, inside or beyond.
std::vector<Scheme::Departure> NonlinearCapturing::branch_ends(const State& before,
                                                               const Vector& lambda,
                                                               const Vector& w, bool beyond) const {
  std::vector<Departure> list;
  for (int i = 0; i < step_.m(); ++i) {
    const auto law = static_cast<std::size_t>(i);
    const Branch& branch =
        step_.laws()[law].branches[static_cast<std::size_t>((*before.mode)[law])];
    double s = inf;
    if (branch.b != 0) watch(branch.w, before.w[i], w[i], beyond, s);
    if (branch.a != 0) watch(branch.lambda, before.lambda[i], lambda[i], beyond, s);
    if (s < inf) list.push_back({i, s});
  }
  return list;
}

std::vector<Scheme::Departure> NonlinearCapturing::approaches() {
  if (*previous().mode != *current().mode) return {};
  return branch_ends(previous(), current().lambda, current().w, true);
}

/// A variable that is small beside those it depends on has their rounding: that of its solution.
Vector NonlinearCapturing::drift(const Vector& sizes, long steps) const {
  Vector error = Vector::Zero(step_.n());
  for (const State& state : states_) error = error.cwiseMax(state.d_error);
  const Vector of_solution =
      larger_motion(x(), x(), [&](const Vector& rate, const Vector& at) {
        return step_.motion_terms(trial().t, rate, at, current().lambda, error);
      });
  return Scheme::drift(sizes, steps).cwiseMax(gate * of_solution);
}

/// Variables that came from so far that the rounding of their way is more than `coarse_share` of them: the unknown of a step
/// is x⁺ − x, and the gate knows no more of its rows than that tells.
std::vector<int> NonlinearCapturing::far_unknowns() const {
  std::vector<int> list;
  for (int j = 0; j < step_.n(); ++j)
    if (std::abs(trial().d[j]) * unit_roundoff > coarse_share * std::abs(trial().x[j])) list.push_back(j);
  return list;
}

/// Those of them without rates; and those with rates, of which rows may ask for no better, where a row does not hold at the
/// state that is written. The step is set from the base of the trial's ways.
std::vector<int> NonlinearCapturing::coarse_of(std::vector<int> far) {
  const auto has_rate = [this](int j) { return !is_algebraic(j); };
  if (std::ranges::any_of(far, has_rate) && holds_as_written()) std::erase_if(far, has_rate);
  return far;
}

/// Do the rows of the trial's mode hold at its state to the rounding of its numbers?
bool NonlinearCapturing::holds_as_written() {
  const State& next = trial();
  step_.set_mode(*next.mode);
  return step_.bound_written(next.d, next.lambda) <= gate;
}

/// Is it a step whose state is not taken, since it is one of the present mode that leaves it?
bool NonlinearCapturing::tells_only_that_it_left(const Attempt& found) const {
  return !found.kept_mode && is_left_enough() && trial().mode == current().mode;
}

/// The step; where variables came from far its solution is found again from where they are: no equation holds where
/// algebraic ones were, and small ones that others depend on are known to their own rounding then.
Attempt NonlinearCapturing::step_to(double t_next, double h) {
  const Attempt found = step_once(t_next, h);
  if (found.status != Status::solved || !is_first_order_ || tells_only_that_it_left(found)) return found;
  const std::vector<int> far = far_unknowns();
  if (far.empty()) return found;
  set_step(t_next, h);
  const std::vector<int> coarse = coarse_of(far);
  if (coarse.empty()) return found;
  constexpr int rounds_to_settle = 6;  // 190 bits below the motion of a step
  const State first = trial();
  const bool is_passing = moved_as_far_before(coarse);
  const int rounds = solve_from_here(coarse);
  // A variable that goes on through 0 becomes ever smaller: it is known as well as what it moves needs it.
  if (is_passing && rounds > rounds_to_settle && moves_alike(first.x, trial().x)) trial() = first;
  if (rounds > 0) return found;
  message_ = "variables came from so far that rounding hides their equations, and from where they are Newton's method finds no solution";
  return {Status::not_solved, false, 0, 0};
}

/// Did one of these variables move at the rate of this step in the last one too?
bool NonlinearCapturing::moved_as_far_before(const std::vector<int>& variables) const {
  const State& now = current();
  return now.h > 0 && std::ranges::any_of(variables, [&](int j) {
    return 2 * std::abs(now.d[j]) * trial().h >= std::abs(trial().d[j]) * now.h;
  });
}

/// Are these states of the variables that have a rate one to rounding, where there are any?
bool NonlinearCapturing::moves_alike(const Vector& a, const Vector& b) const {
  bool some = false;
  for (int j = 0; j < step_.n(); ++j) {
    if (is_algebraic(j)) continue;
    some = true;
    if (!(std::abs(a[j] - b[j]) <= 8 * unit_roundoff * (std::abs(a[j]) + std::abs(b[j])))) return false;
  }
  return some;
}

/// The solution of the trial's mode from its state, the unknowns of the step being the ways from its values of the coarse
/// variables, until there are none. The number of rounds; 0: none was found.
int NonlinearCapturing::solve_from_here(std::vector<int> coarse) {
  constexpr int most_rounds = 24;  // each takes 32 bits off, to the smallest that follows the largest double
  State& next = trial();
  Vector base = current().x;
  int round = 0;
  for (; round < most_rounds && !coarse.empty(); ++round) {
    for (const int j : coarse) {
      base[j] = next.x[j];
      next.d[j] = 0;
    }
    set_step(next.t, next.h);
    step_.set_base(base);
    step_.set_mode(*next.mode);
    if (newton_.run(next.d, next.lambda) != NewtonEnd::converged) return 0;
    const Admission admission = newton_.admit(next.d, next.lambda, next.w);
    if (admission == Admission::outside) return 0;
    next.weak = admission == Admission::weak;
    next.residual = newton_.residual();
    next.x = base + next.d;
    coarse = coarse_of(far_unknowns());
  }
  for (int j = 0; j < step_.n(); ++j)  // an algebraic variable goes on from where its equations hold
    if (!is_algebraic(j)) next.d[j] = next.x[j] - current().x[j];
  return round;
}

bool NonlinearCapturing::argument_jumps(int i) const {
  const int n = step_.n();
  // Columns are the inputs t, ẋ, x, λ.
  return std::ranges::any_of(step_.evaluator().entries(), [&](const DcsEvaluator::Entry& entry) {
    if (entry.row != n + i || entry.column == 0) return false;
    return entry.column <= n || entry.column > 2 * n || is_algebraic(entry.column - n - 1);
  });
}

std::vector<int> NonlinearCapturing::lost_variables() const {
  std::vector<int> list;
  for (int j = 0; j < step_.n() && !old_mode_lasts_; ++j)
    if (differential_[static_cast<std::size_t>(j)] == 0) list.push_back(j);
  return list;
}

}  // namespace perp

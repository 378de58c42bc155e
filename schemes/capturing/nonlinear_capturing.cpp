#include <algorithm>
#include <cmath>

#include <perp/lcp/memory.hpp>
#include <perp/schemes/capturing/nonlinear_capturing.hpp>
#include <perp/schemes/check_options.hpp>
#include <perp/schemes/newton/branch_follower.hpp>

namespace perp {
namespace {

constexpr double most_extrapolated = 4;  ///< lengths of the last step
constexpr int short_length = -20;        ///< h·2^short_length decides the orientation of short steps

void check(const BackwardEuler& options) {
  check_h(options.h);
  check_tolerance(options.tol);
  check_refinements(options.refinements);
}

/// Are two solutions one, as far as the errors of the first let see?
bool is_near(const ModeSolution& found, const ModeSolution& own) {
  return ((found.d - own.d).cwiseAbs().array() <= 2 * gate * found.d_error.array()).all() &&
         (!found.lambda_determined ||
          ((found.lambda - own.lambda).cwiseAbs().array() <= 2 * gate * found.lambda_error.array())
              .all());
}

}  // namespace

NonlinearCapturing::NonlinearCapturing(const Dcs& system, const BackwardEuler& options,
                                       double theta)
    : options_(options),
      theta_(theta),
      step_(system),
      newton_(step_),
      search_(step_, newton_),
      resets_(system, step_.evaluator()) {
  check(options);
  check_theta(theta);
  for (int j = 0; j < step_.n(); ++j)
    differential_.push_back(step_.evaluator().is_differential(j) ? 1 : 0);
  rooted_.reserve(differential_.size());
  nothing_ = Vector::Zero(step_.n());
  for (State& state : states_) {
    state.mode = &*modes_.insert(Mode{}).first;
    state.x = state.d = state.d_error = Vector::Zero(step_.n());
    state.lambda = state.w = Vector::Zero(step_.m());
  }
}

/// x⁺ − x if the state moves on as in the last step, unless that was much shorter.
void NonlinearCapturing::predict(double h, Vector& d) const {
  const State& now = current();
  if (now.h > 0 && h <= most_extrapolated * now.h)
    d = (h / now.h) * now.d;
  else
    d.setZero();
}

/// The step of length h from the present state.
void NonlinearCapturing::set_step(double t_next, double h) const {
  step_.set_theta(is_first_order_ ? 1 : theta_);
  step_.set_step(current().x, t_next, h);
}

/// The present state is a start or one behind a reset: what its rates were before is no matter.
void NonlinearCapturing::begin_here() {
  current().fresh = true;
  if (theta_ == 1) return;
  current().begins = true;
  begins_.add(x());
}

/// The step in the equations of the present mode on the branch of the present state, wherever its
/// ranges end.
bool NonlinearCapturing::solve_mode(double h) {
  const State& now = current();
  State& next = trial();
  step_.set_mode(*now.mode);
  predict(h, next.d);
  guess_ = next.d;
  next.lambda = now.lambda;
  NewtonEnd end = newton_.run(next.d, next.lambda);
  if (end != NewtonEnd::converged && now.h > 0) {
    next.d.setZero();
    guess_ = next.d;
    next.lambda = now.lambda;
    end = newton_.run(next.d, next.lambda);
  }
  if (end != NewtonEnd::converged && last_rate_.size() > 0) {
    next.d = h * last_rate_;
    guess_ = next.d;
    next.lambda = now.lambda;
    end = newton_.run(next.d, next.lambda);
  }
  return (end == NewtonEnd::converged && is_on_branch(h)) || solve_on_branches(h) || follow_branch(h);
}

/// The same, and what it is for the laws.
NonlinearCapturing::Present NonlinearCapturing::solve_present(double h) {
  if (!solve_mode(h)) return Present::not_solved;
  State& next = trial();
  const Admission admission = newton_.admit(next.d, next.lambda, next.w);
  next.weak = admission == Admission::weak;
  next.residual = newton_.residual();
  if (admission == Admission::outside) {
    keep_end();
    return Present::left;
  }
  return passes_pole(h) ? Present::not_solved : Present::kept;
}

/// Does the solution found last belong to the branch of the present state? Newton's method
/// contracted from the first step on, and the matrix has the orientation of short steps: between
/// them and this one is no singular matrix, hence no second solution that came with a fold.
bool NonlinearCapturing::is_on_branch(double h) {
  return newton_.is_local() && has_orientation(newton_.orientation(), h) && stays_on_root(h);
}

/// The orientation of a step much shorter than h in the present mode. The step of length h is set again.
void NonlinearCapturing::learn_orientation(double h) {
  const State& now = current();
  const double shorter = std::ldexp(h, short_length);
  Vector d(step_.n());
  predict(shorter, d);
  if (now.h == 0 && last_rate_.size() > 0) d = shorter * last_rate_;
  set_step(now.t + shorter, shorter);
  oriented_mode_ = now.mode;
  orientation_ = step_.linearise(d, now.lambda) ? newton_.orientation_here() : 0;
  set_step(h == trial().h ? trial().t : now.t + h, h);
  step_.linearise(trial().d, trial().lambda);
  step_.bound(trial().d, trial().lambda);
}

/// Short steps tell the orientation where the mode begins; from then on it cannot change.
bool NonlinearCapturing::has_orientation(int orientation, double h) {
  if (orientation == 0) return true;
  if (oriented_mode_ != current().mode || current().fresh) learn_orientation(h);
  return orientation_ == 0 || orientation_ == orientation;
}

/// The solution of the present mode that is connected with the present state by those of shorter
/// steps: from a very short step on, each from the one before, as near as Newton's method
/// contracts. False: the branch ends before h, or no such chain was found.
bool NonlinearCapturing::follow_branch(double h) {
  ++followed_;
  const State& now = current();
  State& next = trial();
  BranchFollower follower(
      newton_, [&](double length) { set_step(length == h ? next.t : now.t + length, length); },
      [this](int orientation, double length) { return has_orientation(orientation, length); }, rooted_variables(*now.mode));
  if (follower.follow(h, {now.lambda, last_rate_, now.fresh}, next.d, next.lambda)) return true;
  set_step(next.t, h);
  return false;
}

/// The attempt, of first order or not. The θ-method keeps its mode, or it has no step.
Attempt NonlinearCapturing::step_once(double t_next, double h) {
  State& next = trial();
  next.t = t_next;
  next.h = h;
  next.weak = next.fresh = next.begins = next.is_alone = next.knows_end = false;
  next.is_first_order = is_first_order_;
  set_step(t_next, h);
  const Present present = knows_mode() ? solve_present(h) : Present::not_solved;
  const bool kept = present == Present::kept;
  if (!kept && !is_first_order_) return {Status::not_solved, false, 0, 0};
  if (present == Present::left && is_left_enough()) return take_present(false);
  if (!kept || options_.selector == Selector::minimal_norm) {
    ModeSolution own;
    if (kept) own = {.mode = mode(), .d = next.d, .lambda = next.lambda, .w = next.w};
    return attempt_all_modes(h, kept ? &own : nullptr);
  }
  return take_present(true);
}

/// Where the end of a mode is looked for, the mode behind it is not. Behind a reset that may be the same one.
bool NonlinearCapturing::is_left_enough() const {
  return looks_for_end_ && theta_ == 1 && !(settled_ && settled_->t == t());
}

/// The step in the present mode, which it keeps or has left.
Attempt NonlinearCapturing::take_present(bool keeps) {
  State& next = trial();
  next.mode = current().mode;
  next.x = current().x + next.d;
  return {Status::solved, keeps, keeps ? count_in_mode() : 0, 0};
}

/// Of the last run of Newton's method: -1 where x⁺ is one of a continuum, 0: not counted.
int NonlinearCapturing::count_in_mode() {
  if (!newton_.met_singular()) return 0;
  ++undetermined_;
  return !newton_.factorise() && newton_.is_open() ? -1 : 0;
}

Attempt NonlinearCapturing::attempt_in(const Mode& mode, const Vector& x, const Vector& lambda,
                                       double t_next, double h) {
  const State& now = current();
  State& next = trial();
  next.t = t_next;
  next.h = h;
  next.weak = next.fresh = next.knows_end = false;
  next.begins = theta_ < 1 && mode != this->mode();
  next.is_first_order = is_first_order_ = theta_ == 1 || now.begins || next.begins;
  set_step(t_next, h);
  step_.set_mode(mode);
  next.d = x - now.x;
  next.lambda = lambda;
  if (newton_.run(next.d, next.lambda) == NewtonEnd::converged) {
    const Admission admission = newton_.admit(next.d, next.lambda, next.w);
    if (admission != Admission::outside) {
      next.weak = admission == Admission::weak;
      next.residual = newton_.residual();
      const int solutions = count_in_mode();
      next.mode = &*modes_.insert(mode).first;
      next.x = now.x + next.d;
      judge_index();
      return {Status::solved, next.mode == now.mode, solutions, 0};
    }
  }
  message_ = "no solution was found in the mode";
  return {Status::not_solved, false, 0, 0};
}

/// What the search finds in other modes; in the present one only its own solution is connected with
/// the present state, the others would be jumps within a mode.
void NonlinearCapturing::keep_own_branch(const ModeSolution* own, FoundSolutions& found) {
  if (!knows_mode()) return;
  const auto is_own = [&](const ModeSolution& solution) { return own != nullptr && is_near(solution, *own); };
  const auto others = std::erase_if(
      found.list, [&](const ModeSolution& solution) { return solution.mode == mode() && !is_own(solution); });
  left_branch_ = left_branch_ || others > 0;
  if (own != nullptr && std::ranges::none_of(found.list, is_own)) put_first(*own, found);
}

/// The own solution, with what a search says of one, before those that were found.
void NonlinearCapturing::put_first(const ModeSolution& own, FoundSolutions& found) {
  set_step(trial().t, trial().h);
  step_.set_mode(mode());
  step_.linearise(own.d, own.lambda);
  found.list.insert(found.list.begin(), own);
  ModeSolution& solution = found.list.front();
  solution.norm = step_.norm(own.d);
  solution.residual = step_.bound(own.d, own.lambda);
  search_.write_errors(solution);
}

/// keep_mode takes the nearest of what is easily found; who asks for all, or finds none, scans.
FoundSolutions NonlinearCapturing::find_solutions(double h, const Mode& present, const Vector& d, const ModeSolution* own) {
  const Vector lambda = current().lambda;
  const bool thorough = options_.selector == Selector::minimal_norm || start_pending_;
  left_branch_ = false;
  const State& next = trial();
  search_.begin_at(arguments_before());
  const StepSearch::PresentEnd end{next.end_lambda, next.end_w};
  FoundSolutions found = thorough ? search_.all(present, d, lambda)
                                  : search_.nearest(present, d, lambda, next.knows_end ? &end : nullptr);
  keep_own_branch(own, found);
  if (options_.selector == Selector::minimal_norm && newton_.left() == 0) {  // the nearest of some modes may not be that of all
    found.list.clear();
    found.why = describe(NewtonEnd::exhausted);
  }
  if (thorough || !(found.list.empty() || leaps(h, found, d))) return found;
  return search_all(present, d, own, std::move(found));
}

/// The present mode; at a start that before it, or the one that laws with memory begin in.
Mode NonlinearCapturing::present_or_before() const {
  if (!start_pending_) return mode();
  return before_.empty() ? memory_at_start(step_.laws()) : before_;
}

Attempt NonlinearCapturing::attempt_all_modes(double h, const ModeSolution* own) {
  ++searches_;
  const Mode present = present_or_before();
  Vector d(step_.n());
  predict(h, d);
  FoundSolutions found = find_solutions(h, present, d, own);
  search_from_last_rate(h, present, own, found);
  if (search_.has_too_many_modes() || newton_.left() == 0) ++not_enumerated_;
  if (found.list.empty()) return none_found(found);
  trial().is_alone = found.list.size() == 1;
  int solutions = 0, ties = 0;
  std::size_t best = 0;
  if (options_.selector != Selector::first) best = choose(h, present, found, solutions, ties);
  if (found.list.empty()) return none_found(found);
  // That one is alone a search of some modes does not tell; that they are several it has seen.
  const bool is_told = found.all_modes || solutions > 1;
  Attempt attempt = take(found.list[best], is_told ? solutions : 0, ties);
  attempt.is_choice = own != nullptr && !attempt.kept_mode;
  return attempt;
}

/// That Newton's method finds no solution proves nothing.
Attempt NonlinearCapturing::none_found(const FoundSolutions& found) {
  if (left_branch_ && step_.m() == 0)
    message_ =
        "the solution ends, or the step is too long for it: every solution found belongs to "
        "another branch of the equations";
  else if (left_branch_)
    message_ =
        "the solution ends or jumps: every solution found in its mode belongs to another "
        "branch of the equations";
  else if (search_.has_too_many_modes())
    message_ =
        "no solution was found near the present mode, and there are too many modes to try "
        "all";
  else if (!found.why.empty())
    message_ = found.why;
  else
    message_ = step_.m() > 0 ? "no solution was found in any mode" : "no solution was found";
  return {search_.has_too_many_modes() ? Status::not_enumerated : Status::not_solved, false, 0, 0};
}

Attempt NonlinearCapturing::take(const ModeSolution& solution, int solutions, int ties) {
  State& next = trial();
  next.d = solution.d;
  next.x = current().x + solution.d;
  next.lambda = solution.lambda;
  next.w = solution.w;
  next.weak = solution.weak;
  next.residual = solution.residual;
  next.d_error = solution.d_error;
  if (!solution.lambda_determined) ++undetermined_;
  const bool kept = !start_pending_ && (mode() == solution.mode ||
                                        std::find(solution.also.begin(), solution.also.end(),
                                                  mode()) != solution.also.end());
  next.mode = kept ? current().mode : &*modes_.insert(solution.mode).first;
  return {Status::solved, kept, solution.isolated ? solutions : -1, ties};
}

/// Of the differential variables: the others may turn round at a fold.
void NonlinearCapturing::keep_rate(const State& state) {
  if (!(state.h > 0)) return;
  last_rate_.resize(step_.n());
  for (int j = 0; j < step_.n(); ++j)
    last_rate_[j] = differential_[static_cast<std::size_t>(j)] != 0 ? state.d[j] / state.h : 0;
}

void NonlinearCapturing::accept() {
  if (!of_high_index_.empty()) tell_first_order();
  if (trial().weak) ++weak_;
  residual_ = std::max(residual_, trial().residual);
  keep_rate(trial());
  const int oldest = previous_;
  previous_ = now_;
  now_ = trial_;
  trial_ = oldest;
  if (current().begins) begins_.add(x());
  current().entered = previous().mode != current().mode;
  if (current().entered) entered_.add(x());
  follow_path();
}

void NonlinearCapturing::restore(const Step& state) {
  State& now = current();
  now.t = state.t;
  now.x = state.x;
  now.lambda = state.lambda;
  now.w = state.w;
  now.mode = &*modes_.insert(state.mode).first;
  now.d.setZero();
  now.h = 0;
  now.weak = now.fresh = now.knows_end = false;
  now.entered = entered_.contains(state.x);
  now.begins =
      theta_ < 1 && (begins_.contains(state.x) || of_high_index_.contains(state.mode));
  follow_path();
}

void NonlinearCapturing::interpolate(double s, Vector& x) const {
  x = (1 - s) * previous().x + s * current().x;
}

std::vector<std::pair<Mode, double>> NonlinearCapturing::violations(double h) {
  is_first_order_ = true;
  set_step(current().t + h, h);
  Vector d(step_.n());
  predict(h, d);
  return search_.violations(d, current().lambda);
}

void NonlinearCapturing::count(Counts& counts) const {
  counts["newton_iterations"] += newton_.iterations();
  counts["searches"] += searches_;
  if (not_enumerated_ > 0) counts["not_enumerated"] += not_enumerated_;
  if (undetermined_ > 0) counts["undetermined_multipliers"] += undetermined_;
  if (followed_ > 0) counts["followed_branches"] += followed_;
  if (weak_ > 0) counts["weak"] += weak_;
  if (passed_at_start_ > 0) counts["resets_passed_at_start"] += passed_at_start_;
  if (newton_.refined_signs() > 0) counts["refined_signs"] += newton_.refined_signs();
}

}  // namespace perp

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/schemes/check_options.hpp>
#include <perp/schemes/nonlinear_capturing.hpp>

namespace perp {
namespace {

// As in Capturing: margins may be negative by this share of their terms, by `tol` where only
// rounding keeps a step from being solved, unless the step is so short that it would creep past the
// end of a solution.
constexpr double strict = 1e-12;
constexpr double strictest = 1e-14;
constexpr double shortest_loose = 1e-6;  ///< of the step length

void check(const BackwardEuler& options) {
  check_h(options.h);
  check_tolerance(options.tol);
  check_refinements(options.refinements);
}

/// Room between a value and the nearer end of a range; negative outside.
double room(const Range& range, double value) {
  return std::min(value - range.lower, range.upper - value);
}

}  // namespace

NonlinearCapturing::NonlinearCapturing(const Dcs& system, const BackwardEuler& options)
    : options_(options),
      step_(system),
      newton_(step_, options.tol),
      search_(step_, newton_),
      resets_(system, step_.evaluator()) {
  check(options);
  loose_from_ = shortest_loose * options.h;
  for (int j = 0; j < step_.n(); ++j)
    differential_.push_back(step_.evaluator().is_differential(j) ? 1 : 0);
  for (State& state : states_) {
    state.mode = &*modes_.insert(Mode{}).first;
    state.x = state.d = Vector::Zero(step_.n());
    state.lambda = state.w = Vector::Zero(step_.m());
  }
}

double NonlinearCapturing::tolerance(double h) const {
  return std::min(h < loose_from_ ? strictest : strict, options_.tol);
}

/// x⁺ − x if the state moves on as in the last step.
void NonlinearCapturing::predict(double h, Vector& d) const {
  const State& now = current();
  if (now.h > 0)
    d = (h / now.h) * now.d;
  else
    d.setZero();
}

/// The step in the present mode, if it is admissible there.
bool NonlinearCapturing::solve_present(double h) {
  const State& now = current();
  State& next = trial();
  step_.set_mode(*now.mode);
  predict(h, next.d);
  next.lambda = now.lambda;
  NewtonEnd end = newton_.run(next.d, next.lambda);
  if (end != NewtonEnd::converged && now.h > 0) {
    next.d.setZero();
    next.lambda = now.lambda;
    end = newton_.run(next.d, next.lambda);
  }
  if (end != NewtonEnd::converged) return false;
  step_.w(next.w);
  return newton_.violation(next.lambda, next.w, tolerance(h)) == 0;
}

Attempt NonlinearCapturing::attempt(double t_next, double h) {
  const State& now = current();
  State& next = trial();
  next.t = t_next;
  next.h = h;
  step_.set_step(now.x, t_next, h);
  const bool knows_mode = !start_pending_ && now.mode->size() == step_.laws().size();
  if (knows_mode && options_.selector != Selector::minimal_norm && solve_present(h)) {
    next.mode = now.mode;
    next.x = now.x + next.d;
    if (newton_.met_singular()) ++undetermined_;
    return {Status::solved, true, 0, 0};
  }
  return attempt_all_modes(h);
}

Attempt NonlinearCapturing::attempt_in(const Mode& mode, const Vector& x, const Vector& lambda,
                                       double t_next, double h) {
  const State& now = current();
  State& next = trial();
  next.t = t_next;
  next.h = h;
  step_.set_step(now.x, t_next, h);
  step_.set_mode(mode);
  next.d = x - now.x;
  next.lambda = lambda;
  if (newton_.run(next.d, next.lambda) == NewtonEnd::converged) {
    step_.w(next.w);
    if (newton_.violation(next.lambda, next.w, options_.tol) == 0) {
      if (newton_.met_singular()) ++undetermined_;
      next.mode = &*modes_.insert(mode).first;
      next.x = now.x + next.d;
      return {Status::solved, next.mode == now.mode, 0, 0};
    }
  }
  message_ = "the mode has no solution";
  return {Status::not_solved, false, 0, 0};
}

Attempt NonlinearCapturing::attempt_all_modes(double h) {
  ++searches_;
  const Mode present = start_pending_ ? before_ : mode();
  Vector d(step_.n());
  predict(h, d);
  const Vector lambda = current().lambda;
  // keep_mode takes the nearest of what is easily found; who asks for all, or finds none, scans.
  const bool thorough = options_.selector == Selector::minimal_norm || start_pending_;
  FoundSolutions found = search_.all(present, d, lambda, tolerance(h), thorough);
  if (found.list.empty() && !thorough) found = search_.all(present, d, lambda, tolerance(h));
  if (found.list.empty() && h >= loose_from_)
    found = search_.all(present, d, lambda, options_.tol);
  if (!found.all_modes) ++not_enumerated_;
  if (found.list.empty()) {
    if (!found.all_modes) {
      message_ = "no solution was found near the present mode, and there are too many modes to "
                 "try all";
      return {Status::not_enumerated, false, 0, 0};
    }
    message_ = found.decided ? "no mode has a solution" : found.why;
    return {found.decided ? Status::no_solution : Status::not_solved, false, 0, 0};
  }
  int solutions = 0, ties = 0;
  std::size_t best = 0;
  if (options_.selector != Selector::first) best = search_.choose(found, present, solutions, ties);
  if (options_.selector == Selector::keep_mode && !start_pending_)
    best = search_.most_continuous(found, present, best);
  return take(found.list[best], found.all_modes ? solutions : 0, ties);
}

Attempt NonlinearCapturing::take(const ModeSolution& solution, int solutions, int ties) {
  State& next = trial();
  next.d = solution.d;
  next.x = current().x + solution.d;
  next.lambda = solution.lambda;
  next.w = solution.w;
  if (!solution.lambda_determined) ++undetermined_;
  const bool kept = !start_pending_ && (mode() == solution.mode ||
                                        std::find(solution.also.begin(), solution.also.end(),
                                                  mode()) != solution.also.end());
  next.mode = kept ? current().mode : &*modes_.insert(solution.mode).first;
  return {Status::solved, kept, solutions, ties};
}

void NonlinearCapturing::accept() {
  const int oldest = previous_;
  previous_ = now_;
  now_ = trial_;
  trial_ = oldest;
}

Scheme::ResetOutcome NonlinearCapturing::reset(std::vector<Event>& events) {
  if (resets_.empty()) return ResetOutcome::none;
  const State& before = previous();
  const State& after = current();
  const ResetWatch::Firing firing =
      resets_.first(before.t, before.x, before.lambda, after.t, after.x, after.lambda);
  if (firing.reset < 0) return ResetOutcome::none;
  if (firing.again) {
    message_ = fmt::format("reset '{}' would fire again before its condition has left 0; a contact "
                           "law passes such an accumulation",
                           resets_.name(firing.reset));
    return ResetOutcome::accumulate;
  }
  Step state{before.t + firing.s * (after.t - before.t), {}, after.lambda, after.w, *after.mode};
  interpolate(firing.s, state.x);
  Event event;
  event.kind = EventKind::jump;
  event.t = state.t;
  event.t_before = before.t;
  event.t_after = after.t;
  event.x_before = state.x;
  resets_.apply(firing.reset, state.t, state.x, state.lambda);
  event.x_after = state.x;
  event.size = (event.x_after - event.x_before).norm();
  event.note = resets_.name(firing.reset);
  events.push_back(std::move(event));
  restore(state);
  return ResetOutcome::applied;
}

void NonlinearCapturing::linearise_trial() const {
  const State& next = trial();
  step_.set_step(current().x, next.t, next.h);
  step_.set_mode(*next.mode);
  step_.linearise(next.d, next.lambda);
}

double NonlinearCapturing::attempted_norm() const {
  linearise_trial();
  return step_.norm(trial().d);
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
}

void NonlinearCapturing::interpolate(double s, Vector& x) const {
  x = (1 - s) * previous().x + s * current().x;
}

std::vector<std::pair<Mode, double>> NonlinearCapturing::violations(double h) {
  const State& now = current();
  step_.set_step(now.x, now.t + h, h);
  Vector d(step_.n());
  predict(h, d);
  return search_.violations(d, now.lambda, tolerance(h));
}

std::vector<Scheme::Departure> NonlinearCapturing::departures() {
  const State& before = previous();
  const State& now = current();
  if (before.mode->size() != step_.laws().size() || !(now.t > before.t)) return {};
  // Where would the step have ended in the old mode? Its margins go there from their present ones.
  step_.set_step(before.x, now.t, now.t - before.t);
  step_.set_mode(*before.mode);
  Vector d = now.d, lambda = before.lambda, w(step_.m());
  if (newton_.run(d, lambda) != NewtonEnd::converged) {
    d.setZero();
    lambda = before.lambda;
    if (newton_.run(d, lambda) != NewtonEnd::converged) return {};
  }
  step_.w(w);
  std::vector<Departure> list;
  for (int i = 0; i < step_.m(); ++i) {
    const Branch& branch = step_.branch(i);
    double s = 2;
    const auto watch = [&](const Range& range, double from, double to) {
      const double end = room(range, to);
      if (end >= 0) return;
      const double begin = std::max(0.0, room(range, from));
      s = std::min(s, std::isfinite(begin) ? begin / (begin - end) : 1.0);
    };
    if (branch.b != 0) watch(branch.w, before.w[i], w[i]);
    if (branch.a != 0) watch(branch.lambda, before.lambda[i], lambda[i]);
    if (s <= 1) list.push_back({i, s});
  }
  return list;
}

void NonlinearCapturing::count(Counts& counts) const {
  counts["newton_iterations"] += newton_.iterations();
  counts["searches"] += searches_;
  if (not_enumerated_ > 0) counts["not_enumerated"] += not_enumerated_;
  if (undetermined_ > 0) counts["undetermined_multipliers"] += undetermined_;
}

}  // namespace perp

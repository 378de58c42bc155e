#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/core/branches.hpp>
#include <perp/schemes/capturing/nonlinear_capturing.hpp>
#include <perp/schemes/events/events.hpp>

namespace perp {
namespace {

constexpr std::array settling{-20, -30, -40, -48};  ///< of the steps that algebraic variables after a reset are taken from
constexpr int most_trials = 120;  ///< steps on the search for the moment of a reset
constexpr int secants = 30;       ///< of these, after which the zero is known not to be a simple one

/// Shares of a step between which a condition passes 0, with its sizes there.
struct Bracket {
  double low_value, high_value;
  double low = 0, high = 1;

  void take(double s, double value, bool is_before) {
    (is_before ? low : high) = s;
    (is_before ? low_value : high_value) = value;
  }
  /// Where the secant is 0; bisection every third time keeps the bracket shrinking from both ends, and closes that of a
  /// zero which is not simple: a state that is told from its surface would pass it again.
  [[nodiscard]] double next(int trial) const {
    return trial % 3 == 2 || trial >= secants ? low + (high - low) / 2 : low + (high - low) * low_value / (low_value + high_value);
  }
};

}  // namespace

/// Notes the current state as the end of the accepted way; a state that is gone back to ends it.
void NonlinearCapturing::follow_path() {
  if (resets_.empty()) return;
  while (!path_.empty() && path_.back().t >= t()) path_.pop_back();
  path_.push_back(seen());
}

Step NonlinearCapturing::seen() { return settled_ && settled_->t == t() ? *settled_ : snapshot(); }

/// The sides from which the conditions start.
void NonlinearCapturing::start_resets() {
  if (resets_.empty()) return;
  path_ = {snapshot()};
  settled_.reset();
  resets_.start();
  ResetWatch::Errors errors = ResetWatch::rounding(path_.front(), path_.front());
  add_errors_of_constraints(errors);
  std::vector<int> open;
  for (int k = 0; k < resets_.count(); ++k) {
    const int before = sides_before_.empty() ? 0 : sides_before_[static_cast<std::size_t>(k)];
    resets_.set_side(k, before != 0 ? before : resets_.sign(k, path_.front(), errors));
    if (resets_.side(k) == 0) open.push_back(k);
  }
  look_ahead(open);
  passed_at_start_ = 0;
  for (const int k : open) {
    const int direction = resets_.reset(k).direction, to = resets_.side(k);
    if (to != 0 && (direction == 0 || direction == to)) ++passed_at_start_;
  }
}

Scheme::ResetOutcome NonlinearCapturing::reset(std::vector<Event>& events, long steps) {
  if (resets_.empty()) return {};
  const std::vector<Step> path = std::exchange(path_, {snapshot()});
  ResetOutcome outcome = reset_on_path(path, steps, events);
  if (outcome.kind == ResetOutcome::Kind::none) path_ = {snapshot()};  // what was gone back to on the search is no way
  return outcome;
}

/// The first resets on a path of accepted states.
Scheme::ResetOutcome NonlinearCapturing::reset_on_path(const std::vector<Step>& path, long steps, std::vector<Event>& events) {
  for (std::size_t k = 1; k < path.size(); ++k) {
    if (path[k - 1].mode != path[k].mode) {
      if (auto outcome = reset_on_change(path[k - 1], path[k], k + 1 == path.size(), events)) return *outcome;
      continue;
    }
    const std::optional<ResetWatch::Firing> firing = resets_.first(path[k - 1], path[k]);
    if (firing) return fire(path[k - 1], path[k], *firing, events);
  }
  return path.size() > 1 ? reset_at_end(path[path.size() - 2], path.back(), steps, events)
                         : ResetOutcome{};
}

/// A condition that is 0 at b, the end of the way, passes there if the motion leads on to the other side. At the end of a
/// run no step comes behind it: there it is known to the rounding of all `steps` alone.
Scheme::ResetOutcome NonlinearCapturing::reset_at_end(const Step& a, const Step& b, long steps, std::vector<Event>& events) {
  ResetWatch::Errors errors = ResetWatch::rounding(a, b);
  const double of_steps = static_cast<double>(steps) * unit_roundoff;
  errors.x = errors.x.cwiseMax(of_steps * a.x.cwiseAbs().cwiseMax(b.x.cwiseAbs()));
  const std::vector<int> found = passing({}, b, errors);
  if (found.empty()) return {};
  ResetOutcome outcome{ResetOutcome::Kind::applied, a.t, b.t, laws_still_on(a, b, errors), {}};
  Step before = b;
  for (const int law : outcome.laws) before.mode[static_cast<std::size_t>(law)] = a.mode[static_cast<std::size_t>(law)];
  fire_together(found, std::move(before), {&a, &b}, errors, outcome, events);
  return outcome;
}

/// Applies the resets that were found on the way between two states, and all others of their moment, to the state `before`
/// them, known up to `errors`.
void NonlinearCapturing::fire_together(const std::vector<int>& found, Step before, std::pair<const Step*, const Step*> way,
                                       ResetWatch::Errors errors, ResetOutcome& outcome, std::vector<Event>& events) {
  const auto [a, b] = way;
  errors = ResetWatch::larger(errors, resets_.of_moment(found.front(), *a, *b, before));
  const std::vector<int> fired = at_one_moment(found, before, errors);
  apply(fired, std::move(before), {a->t, b->t}, errors, outcome, events);
}

/// The resets other than these whose conditions are 0 in the state, as far as its errors tell.
std::vector<int> NonlinearCapturing::on_their_surface(const std::vector<int>& others, const Step& state,
                                                      const ResetWatch::Errors& errors) {
  std::vector<int> open;
  for (int k = 0; k < resets_.count(); ++k)
    if (std::ranges::find(others, k) == others.end() && resets_.sign(k, state, errors) == 0) open.push_back(k);
  return open;
}

/// The resets other than these whose conditions are 0 in the current state and that the motion leads
/// to the side on which they fire; the sides of those that it leads elsewhere become known, unless one fires: it may
/// turn the motion back, which then has not passed their surfaces.
std::vector<int> NonlinearCapturing::passing(const std::vector<int>& others, const Step& state,
                                             const ResetWatch::Errors& errors) {
  const std::vector<int> open = on_their_surface(others, state, errors);
  if (open.empty()) return {};
  std::vector<int> before, passing, sides;
  for (const int k : open) before.push_back(resets_.side(k));
  look_ahead(open);
  for (std::size_t i = 0; i < open.size(); ++i) {
    sides.push_back(resets_.side(open[i]));
    resets_.set_side(open[i], before[i]);
    if (resets_.fires(open[i], sides[i])) passing.push_back(open[i]);
  }
  if (!others.empty() || !passing.empty()) return passing;
  for (std::size_t i = 0; i < open.size(); ++i)
    if (sides[i] != 0) resets_.leave_to(open[i], sides[i], resets_.moved_by_rounding(open[i], state, errors));
  return passing;
}

/// All resets of one moment: of those that were found to pass their surface near it, which of them
/// are not on the side before in this state any more; and those on their surface whose condition the
/// motion leads on.
std::vector<int> NonlinearCapturing::at_one_moment(const std::vector<int>& found, const Step& state,
                                                   const ResetWatch::Errors& errors) {
  std::vector<int> fired = found;
  std::erase_if(fired, [&](int k) {
    return k != found.front() && resets_.sign(k, state, errors) == resets_.side(k);
  });
  for (int k = 0; k < resets_.count(); ++k)  // passed by less than the length of the search
    if (resets_.fires(k, resets_.sign(k, state, errors)) &&
        std::find(fired.begin(), fired.end(), k) == fired.end())
      fired.push_back(k);
  restore(state);
  for (const int k : passing(fired, state, errors)) fired.push_back(k);
  std::sort(fired.begin(), fired.end());
  return fired;
}

/// Goes back to where resets fire between a and b, in one mode, and applies them.
Scheme::ResetOutcome NonlinearCapturing::fire(const Step& a, const Step& b,
                                              const ResetWatch::Firing& firing,
                                              std::vector<Event>& events) {
  ResetOutcome outcome{ResetOutcome::Kind::applied, a.t, b.t, {}, resets_.names(firing.resets)};
  if (firing.is_unresolved) {
    outcome.kind = ResetOutcome::Kind::too_long;
    restore(a);
    path_ = {a};
    return outcome;
  }
  const std::optional<Step> end = step_to_surface(a, b, firing);
  Step before = end ? *end : between(a, b, firing.s);
  fire_together(firing.resets, std::move(before), {&a, &b}, ResetWatch::rounding(a, b), outcome, events);
  return outcome;
}

/// The events of laws that change in a step over these times, just before resets.
void NonlinearCapturing::tell_memory(const Step& before, const Step& after, std::pair<double, double> step,
                                     std::vector<Event>& events) {
  if (before.mode == after.mode) return;
  for (Event& event : mode_events(step_.laws(), before, after, {}, *this)) {
    event.t = before.t;
    event.t_before = step.first;
    event.t_after = step.second;
    events.push_back(std::move(event));
  }
}

/// Applies resets to the state before them, known up to `errors`, which lies in a step over these times.
void NonlinearCapturing::apply(const std::vector<int>& fired, Step before, std::pair<double, double> step,
                               ResetWatch::Errors errors, ResetOutcome& outcome, std::vector<Event>& events) {
  outcome.names = resets_.names(fired);
  const std::vector<ResetWatch::Approach> approaching = resets_.approaching(before, errors, fired);
  Step after = before;
  after.mode = mode_at_resets(before, errors);
  tell_memory(before, after, step, events);
  before.mode = after.mode;
  after.x = resets_.values(fired, before, errors);
  if (!errors.x.allFinite()) {
    outcome.kind = ResetOutcome::Kind::no_value;
    restore(before);
    return;
  }
  restore(after);
  const Vector written = after.x;
  const std::optional<Vector> landing = jump_from_here();
  if (landing) {
    after.x = *landing;
    errors.x = errors.x.cwiseMax(gate * unit_roundoff * (before.x.cwiseAbs() + landing->cwiseAbs()));
    restore(after);
  }
  resets_.begin(errors);
  settled_ = settle_sides(errors, approaching);
  path_ = {*settled_};  // the jump itself passes no surface
  begin_here();
  const auto tell = [&](const Vector& x_before, const Vector& x_after, std::string note) {
    Event event;
    event.kind = EventKind::jump;
    event.t = before.t;
    event.t_before = step.first;
    event.t_after = step.second;
    event.x_before = x_before;
    event.x_after = x_after;
    event.size = motion(x_before, x_after).norm();
    event.note = std::move(note);
    events.push_back(std::move(event));
  };
  tell(before.x, landing ? written : x(), outcome.names);
  if (landing) tell(written, x(), "no continuous solution goes on");
  outcome.before = std::move(before);
}

/// The state at the end of a step of this length from a, in its mode; empty: there is none.
std::optional<Step> NonlinearCapturing::state_in_mode(const Step& a, double length) {
  const Attempt trial_step = attempt(a.t + length, length);
  if (trial_step.status != Status::solved || !trial_step.kept_mode) return std::nullopt;
  return Step{a.t + length, trial().x, trial().lambda, trial().w, a.mode};
}

/// The shorter step from a at whose end the first of these conditions is 0, to rounding: on the
/// straight way to b the rates would not be those of the moment. Empty where it keeps no mode.
std::optional<Step> NonlinearCapturing::step_to_surface(const Step& a, const Step& b,
                                                        const ResetWatch::Firing& firing) {
  if (!(firing.s > 0 && firing.s < 1)) return std::nullopt;
  const int k = firing.resets.front();
  std::optional<Step> end;
  restore(a);
  Bracket bracket{std::abs(resets_.condition(k, a)), std::abs(resets_.condition(k, b))};
  double s = firing.s;
  for (int i = 0; i < most_trials && s > bracket.low && s < bracket.high; ++i) {
    const std::optional<Step> state = state_in_mode(a, s * (b.t - a.t));
    if (!state) return std::nullopt;
    const double value = resets_.condition(k, *state);
    const bool is_before = value * resets_.side(k) > 0;
    bracket.take(s, std::abs(value), is_before);
    if (is_before || !end) end = state;
    if (resets_.sign(k, *state, ResetWatch::rounding(a, b)) == 0) return state;
    s = bracket.next(i);
  }
  return end;
}

/// Is the argument of no law, of those without rates, certainly off its branch in this state?
bool NonlinearCapturing::is_on_branches(const Step& state, const ResetWatch::Errors& errors) {
  const auto [w, error] = bounded_w(state, Vector::Zero(step_.n()), errors);
  const std::vector<int> with_rates = step_.laws_of_rates();
  for (int i = 0; i < step_.m(); ++i) {
    if (std::ranges::find(with_rates, i) != with_rates.end()) continue;
    const Range range = w_range(step_.laws()[at(i)].branches[at(state.mode[at(i)])]);
    if (w[i] + error[i] < range.lower || w[i] - error[i] > range.upper) return false;
  }
  return true;
}

/// w and λ of a state that may be beyond the ends of its branches: how far tells when laws left them,
/// at once after a reset. They solve the constraints on these branches, ranges left out; arguments with
/// derivatives, and what has no solution there, stay as they are.
void NonlinearCapturing::extend_branches(Step& state) {
  step_.set_consistency(state.x, state.t);
  step_.set_mode(state.mode);
  const std::vector<int> with_rates = step_.laws_of_rates();
  const auto is_open = [&](int law) { return step_.branch(law).a != 0; };
  if (std::any_of(with_rates.begin(), with_rates.end(), is_open)) return;
  Vector d = Vector::Zero(step_.n()), lambda = state.lambda, w(step_.m());
  if (newton_.run(d, lambda) != NewtonEnd::converged) return;
  step_.w(w);
  for (const int law : with_rates) w[law] = state.w[law];
  state.lambda = lambda;
  state.w = w;
}

/// The algebraic variables and multipliers that belong to the current state, which a reset wrote: the
/// limit of two short steps, then what the constraints say. `errors`: of them, too. A mode that ends within these steps is
/// not the limit's; shorter ones are made then. False: no step.
bool NonlinearCapturing::settle_algebraic_part(Step& seen, ResetWatch::Errors& errors, bool& stays) {
  std::optional<std::pair<Step, ResetWatch::Errors>> first;
  const Step now = snapshot();
  for (const int exponent : settling) {
    const double h = std::ldexp(options_.h, exponent);
    if (first && !(now.t + h > now.t)) break;
    std::pair<Step, ResetWatch::Errors> limit{now, errors};
    if (!settle_by_steps(h, limit.first, limit.second)) break;
    if (!first) first = limit;
    if (!is_on_branches(limit.first, limit.second)) continue;
    first = std::move(limit);
    break;
  }
  if (!first) return false;
  seen = std::move(first->first);
  errors = std::move(first->second);
  stays = seen.mode == now.mode;
  return true;
}

/// The limit of steps of the lengths h and h / 2 from the current state.
bool NonlinearCapturing::settle_by_steps(double h, Step& seen, ResetWatch::Errors& errors) {
  if (attempt(seen.t + h, h).status != Status::solved) return false;
  const State longer = trial();
  State limit = longer;
  Vector change_x = Vector::Zero(seen.x.size()), change_lambda = Vector::Zero(seen.lambda.size());
  if (attempt(seen.t + h / 2, h / 2).status == Status::solved && trial().mode == longer.mode) {
    change_x = trial().x - longer.x;
    change_lambda = trial().lambda - longer.lambda;
    limit.x = trial().x + change_x;
    limit.lambda = trial().lambda + change_lambda;
  }
  // The next term of the limit is smaller by another share of the step.
  const double next_term = 4 * h / options_.h;
  errors.lambda = errors.lambda.cwiseMax(next_term * change_lambda.cwiseAbs());
  for (Eigen::Index j = 0; j < seen.x.size(); ++j) {
    if (differential_[static_cast<std::size_t>(j)] != 0) continue;
    seen.x[j] = limit.x[j];
    errors.x[j] = std::max(errors.x[j], next_term * std::abs(change_x[j]));
  }
  seen.lambda = limit.lambda;
  seen.w = limit.w;
  seen.mode = *limit.mode;
  put_on_constraints(seen);
  return true;
}

/// The sides after a reset, with the algebraic variables and multipliers that belong to the state: as
/// it is seen, in the mode that laws are in then, it is returned.
Step NonlinearCapturing::settle_sides(ResetWatch::Errors errors,
                                      const std::vector<ResetWatch::Approach>& approaching) {
  Step now = snapshot(), seen = now;
  bool stays = false;
  if (settle_algebraic_part(seen, errors, stays)) {
    now.x = seen.x;
    if (stays)
      now.lambda = seen.lambda, now.w = seen.w;
    else
      extend_branches(now);
    restore(now);
  }
  std::vector<int> open;
  for (int k = 0; k < resets_.count(); ++k) {
    const int side = resets_.sign(k, seen, errors);
    // One that has yet to pass stays on its side, wherever the motion before the reset would have led it.
    const bool approaches = side == 0 && resets_.still_approaches(k, approaching, seen, errors);
    resets_.set_side(k, approaches ? resets_.side(k) : side);
    if (side == 0 && !approaches) open.push_back(k);
  }
  look_ahead(open);
  return seen;
}

/// The sides to which conditions leave that are 0 in the current state: the sign of their change
/// over a short step, in which the error of the state itself cancels; 0 where no step shows it.
void NonlinearCapturing::look_ahead(const std::vector<int>& open) {
  const Step now = snapshot();
  for (const int k : open) resets_.set_side(k, 0);
  std::vector<int> rest = open;
  for (const int exponent : looks) {
    if (rest.empty()) break;
    const std::optional<Step> ahead = step_ahead(exponent);
    if (!ahead) continue;
    std::erase_if(rest, [&](int k) {
      const int side = side_ahead(k, now, *ahead);
      if (side != 0) resets_.leave_to(k, side);
      return side != 0;
    });
  }
  arm_turned_back(open);
}

}  // namespace perp

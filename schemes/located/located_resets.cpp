#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/schemes/located/located_run.hpp>
#include <perp/schemes/run/run_end.hpp>

namespace perp {
namespace {

constexpr double together = 1e-11;  ///< of the step or the time scale: events in between are one
constexpr double rounding_of_unit = 0x1p-49;  ///< of the unit of a variable
constexpr int most_looks = 6;                  ///< tried lengths of a step past an event
constexpr double shorter_look = 1.0 / 64;

}  // namespace

/// Rounding of states that a step led to. A variable that rests at 0 is known to that of its unit, not of itself.
ResetWatch::Errors LocatedRun::rounding(const Step& a, const Step& b) const {
  ResetWatch::Errors errors = ResetWatch::rounding(a, b);
  errors.x = errors.x.cwiseMax(rounding_of_unit * scales_.x);
  return errors;
}

/// How far apart in time events at a state that a step led to may be and are those of one moment.
double LocatedRun::same_moment(const Step& state) const {
  return one_moment(together, std::max(scales_.time, state.t - moved_from_.t), state.t);
}

/// How far the numbers of an event are from the exact ones of its mode: the rounding of the step and
/// of its length.
ResetWatch::Errors LocatedRun::errors_at_event(const Step& state) const {
  ResetWatch::Errors errors = rounding(moved_from_, state);
  errors.t += same_moment(state);
  const Jet& jet = passage_.before;
  if (jet.x.cols() > 1) errors.x += errors.t * jet.x.col(1).cwiseAbs();
  if (jet.lambda.cols() > 1) errors.lambda += errors.t * jet.lambda.col(1).cwiseAbs();
  return errors;
}

/// The same of the state that the run starts from: the exact moment may be some ulps of t away, and
/// what moves is known up to its way in between.
ResetWatch::Errors LocatedRun::errors_at_start() {
  const Jet jet = jets_.solve(now_.mode, now_.t, now_.x, now_.lambda);
  Vector rates = Vector::Zero(system_.n());
  for (int j = 0; j < system_.n(); ++j)
    if (jet.consistent && jet.x_known[static_cast<std::size_t>(j)] > 1) rates[j] = jet.x(j, 1);
  return ResetWatch::at_moment(now_, rates);
}

double LocatedRun::condition(int reset, const Step& state) {
  return resets_.condition(reset, state);
}

/// The size below which the condition of a reset may be rounding, from the present state on.
double LocatedRun::condition_noise(int reset) {
  const double error = resets_.error(reset, now_, errors_now());
  return std::isfinite(error) ? error : 0;
}

/// How far the numbers of the present state may be from exact ones.
ResetWatch::Errors LocatedRun::errors_now() const {
  const ResetWatch::Errors here = rounding(moved_from_, now_);
  return event_errors_ ? ResetWatch::larger(here, *event_errors_) : here;
}

/// The sides on the way through the attempted step of length h, up to its end.
void LocatedRun::follow_sides(double h) {
  for (const double s : watch_.points()) {
    if (!(s < 1)) break;
    const Step state = sample(s, h);
    const ResetWatch::Errors errors =
        ResetWatch::larger(errors_now(), rounding(now_, state));
    for (int k = 0; k < resets_.count(); ++k) {
      const int side = resets_.sign(k, state, errors);
      if (side != 0 && !resets_.fires(k, side)) resets_.set_side(k, side);
    }
  }
}

/// The sides of the conditions where a mode begins after a jump, or the run; a condition that is 0 is
/// on the side that the rates of the mode, in `ydot_`, lead it to:
///     c(t + τ, x + τ ẋ, λ + τ λ̇) − c(t, x, λ)   beyond its rounding, with τ that changes c little.
void LocatedRun::settle_sides() {
  if (!unsettled_) return;
  Step ahead = now_;
  const double moment = same_moment(now_);
  flow_.scatter(y_ + moment * ydot_, ahead.x, ahead.lambda);
  ahead.t += moment;
  const ResetWatch::Errors moved = rounding(now_, ahead);
  const bool is_start = result_.t.empty() && steps_ == 0;
  for (int k = 0; k < resets_.count(); ++k) {
    int side = resets_.sign(k, now_, *unsettled_);
    const double change = condition(k, ahead) - condition(k, now_);
    const double error = resets_.error(k, ahead, moved) + resets_.error(k, now_, moved);
    if (side == 0 && std::abs(change) > error) {
      side = change > 0 ? 1 : -1;
      const int direction = resets_.reset(k).direction;
      if (is_start && (direction == 0 || direction == side)) ++result_.counts["resets_passed_at_start"];
    }
    resets_.set_side(k, side);
  }
  event_errors_ = std::move(unsettled_);
  event_end_ = now_.t + 2 * event_errors_->t;
  unsettled_.reset();
}

/// The sides after an accepted step. What may fire does not change sides silently.
void LocatedRun::watch_resets() {
  bool changed = false;
  const ResetWatch::Errors errors = errors_now();
  if (now_.t > event_end_) event_errors_.reset();
  for (int k = 0; k < resets_.count(); ++k) {
    const int now = resets_.sign(k, now_, errors);
    if (now == 0 || now == resets_.side(k) || resets_.fires(k, now)) continue;
    resets_.set_side(k, now);
    changed = true;
  }
  if (changed) make_gaps();
}

/// The resets that may fire and whose surface the state is on.
std::vector<int> LocatedRun::resets_met(const Step& state, const ResetWatch::Errors& errors) {
  std::vector<int> met;
  for (int k = 0; k < resets_.count(); ++k) {
    const int now = resets_.sign(k, state, errors);
    if (resets_.is_armed(k) && (now == 0 || resets_.fires(k, now))) met.push_back(k);
  }
  return met;
}

/// Those of `met` whose conditions the motion from now_ in the present mode leads to the other side.
std::vector<int> LocatedRun::resets_passing(const std::vector<int>& met, const Step& state) {
  std::vector<int> passing, open = met;
  const ResetWatch::Errors errors = errors_at_event(state);
  double h = h_;
  for (int look = 0; look < most_looks && !open.empty(); ++look, h *= shorter_look) {
    if (radau_.attempt(h) != Radau::Outcome::solved) continue;
    for (const double s : watch_.points()) {
      const Step ahead = sample(s, h);
      const ResetWatch::Errors moved =
          ResetWatch::larger(errors, rounding(state, ahead));
      std::erase_if(open, [&](int k) {
        const int to = resets_.sign(k, ahead, moved);
        if (resets_.fires(k, to)) passing.push_back(k);
        return to != 0;
      });
    }
    break;
  }
  std::sort(passing.begin(), passing.end());
  return passing;
}

/// Applies the resets that pass their surface with the event at `before`, at which gap `fell` fell:
/// laws change first, and what does not pass then does not fire. False: none does.
bool LocatedRun::pass_resets(const Gap& fell, const Step& before) {
  std::vector<int> met = resets_met(before, errors_at_event(before));
  if (fell.reset >= 0 && std::find(met.begin(), met.end(), fell.reset) == met.end())
    met.push_back(fell.reset);
  if (met.empty()) return false;
  std::sort(met.begin(), met.end());
  const std::vector<int> hit = laws_hit();
  if (hit.empty() && met.size() == 1 && met.front() == fell.reset) {
    apply_resets(met, before);
    return true;
  }
  if (!hit.empty()) {
    const Selection selection =
        select(jets_, now_.t, now_.x, now_.lambda, now_.mode, undecided_laws(before, hit));
    if (selection.admissible.empty()) return false;
    enter(selection.admissible[by_policy(selection, before, hit)]);
  }
  std::vector<int> passing = resets_passing(met, before);
  now_ = before;
  if (passing.empty()) return false;
  apply_resets(passing, before);
  return true;
}

/// A condition that is 0 at the end of the span passes there if the motion would go on so. What is 0
/// is what a run that starts there would take for it: the passage is of one of the two.
void LocatedRun::pass_resets_at_end() {
  if (resets_.empty() || now_.mode.size() != system_.laws.size()) return;
  passage_ = {};
  passage_.before = jets_.solve(now_.mode, now_.t, now_.x, now_.lambda);
  const std::vector<int> met = resets_met(now_, errors_at_start());
  if (met.empty()) return;
  if (sensitivities_.active()) {
    passage_.dt = Vector::Zero(options_.sensitivities.columns());
    sensitivities_.at_event(passage_.before, passage_.dt);
  }
  const Step before = now_;
  const std::vector<int> passing = resets_passing(met, before);
  if (!passing.empty()) apply_resets(passing, before);
}

void LocatedRun::apply_resets(const std::vector<int>& list, const Step& before) {
  ResetWatch::Errors errors = errors_at_event(before);
  const bool is_known = errors.x.allFinite() && errors.lambda.allFinite();
  now_.x = resets_.values(list, before, errors);
  if (!now_.x.allFinite() || (is_known && !errors.x.allFinite())) {
    now_ = before;
    record(true);
    finish(Status::not_solved,
           fmt::format("stopped at {}: {}", place(before), no_value_text(resets_.names(list))));
    return;
  }
  unsettled_ = std::move(errors);
  Event event;
  event.kind = EventKind::jump;
  event.t = event.t_before = event.t_after = before.t;
  event.x_before = before.x;
  event.x_after = now_.x;
  event.size = (now_.x - before.x).norm();
  event.note = resets_.names(list);
  event.dt_dq = passage_.dt;
  event.condition = passage_.condition;
  result_.events.push_back(std::move(event));
  ++result_.counts["resets"];
  if (sensitivities_.active()) sensitivities_.reset(list, before.t, before.x, before.lambda);
  int signature = -1;
  for (const int k : list) {
    signature = 31 * signature % 1'000'003 - k;
    if (std::find(fired_here_.begin(), fired_here_.end(), k) == fired_here_.end())
      fired_here_.push_back(k);
  }
  accumulation_.add(before.t, now_.x, signature, {}, sensitivities_.at_event(),
                    sensitivities_.event_time());
  go_on(before, all_laws_, {}, JumpOfX::by_reset);
}

}  // namespace perp

// ∂x/∂q along a run: called by the run for steps, by transitions at the ends and starts of modes.
#include <fmt/format.h>
#include <algorithm>
#include <limits>
#include <ranges>
#include <string>

#include <perp/core/branches.hpp>
#include <perp/schemes/located/passage/sensitivity_update.hpp>

namespace perp {
namespace {

constexpr double least_rate = 1e-10;  ///< of the terms of the rate of a reset: below, a run to 1e-10 knows no digit of dt*/dq

}  // namespace

Matrix SensitivityUpdate::at_end_of_attempt() {
  Matrix S;
  if (!maps_.step(integrator_.radau(), S)) return without();
  if (!integrator_.needs_jets()) {
    at_.now.dx_dq = S;
    at_.now.dlambda_dq = Matrix::Zero(at_.system.m(), S.cols());
    return S;
  }
  const Jet jet = jets_.at_state(at_.now);
  if (!jet.consistent) {
    record_.finish(Status::not_solved,
                   fmt::format("stopped at {}: no Taylor series of the mode is found at the end of a step, "
                               "which the sensitivities need",
                               record_.place(at_.now)));
    return S;
  }
  Sensitivities::Values values = maps_.complete(jet, S);
  at_.now.dx_dq = values.dx;
  at_.now.dlambda_dq = std::move(values.dlambda);
  return std::move(values.dx);
}

double SensitivityUpdate::error_of_attempt() {
  if (!active()) return integrator_.radau().error();
  const Radau::Variation along = maps_.variation(terms_);
  return integrator_.radau().error(&along);
}

void SensitivityUpdate::step() {
  if (!active()) return;
  terms_ = sizes(maps_.dx());
  maps_.take(at_end_of_attempt());
  if (!active()) return;
  terms_ = terms_.cwiseMax(sizes(maps_.dx()));
  watch_ends(nullptr, watch_touches());
}

/// The largest entry of each column in units of the variables.
Vector SensitivityUpdate::sizes(const Matrix& S) const {
  return (S.array().abs().colwise() / at_.scales.x.array()).colwise().maxCoeff().transpose();
}

/// Of S behind an event: what is left of S and ẋ dt* may be their rounding.
Vector SensitivityUpdate::terms_behind(const Jet& after, bool x_jumped) const {
  const Vector& dt = maps_.event_time();
  Vector behind = sizes(maps_.at_event()).cwiseMax(sizes(after.x.col(1) * dt.transpose()));
  if (maps_.moved().size() > 0) behind = behind.cwiseMax(sizes(maps_.moved()));
  if (x_jumped) return behind;
  return behind.cwiseMax(sizes(before_)).cwiseMax(sizes(at_.passage.before.x.col(1) * dt.transpose()));
}

void SensitivityUpdate::at_corner(const Gap& fell) {
  if (!active()) return;
  begin_moment();
  take_time_of(fell.law >= 0 ? at_.passage.gaps : std::vector{fell});  // a reset tells its own time
}

/// The time of the present event, by that of these gaps which falls fastest in its unit and tells it best.
void SensitivityUpdate::take_time_of(const std::vector<Gap>& gaps) {
  Passage& passage = at_.passage;
  const Gap* fastest = &gaps.front();
  double speed = -1;
  for (const Gap& gap : gaps) {
    if (gap.law < 0) continue;
    const double by_t = maps_.gap_rate(gap, passage.before, maps_.dx()).by_t;
    if (!(std::abs(by_t) / locator_.size(gap) > speed)) continue;
    speed = std::abs(by_t) / locator_.size(gap);
    fastest = &gap;
  }
  const Sensitivities::GapRate rate = maps_.gap_rate(*fastest, passage.before, maps_.dx());
  passage.rests = fastest->law >= 0 && speed * at_.scales.time <= resting;
  passage.dt = rate.time();
  passage.condition = 1 / std::abs(rate.by_t);
  maps_.at_event(passage.before, passage.dt);
}

void SensitivityUpdate::at_fixed_time() {
  if (!active()) return;
  begin_moment();
  at_.passage.dt = Vector::Zero(at_.options.sensitivities.columns());
  maps_.at_event(at_.passage.before, at_.passage.dt);
}

Sensitivities::GapRate SensitivityUpdate::rate_now(const Gap& gap) {
  return maps_.gap_rate(gap, jets_.at_state(at_.now), maps_.dx());
}

std::optional<Sensitivities::GapRate> SensitivityUpdate::rate_at_event(int law) const {
  const auto found = std::ranges::find(rates_, law, &std::pair<int, Sensitivities::GapRate>::first);
  return found == rates_.end() ? std::nullopt : std::optional(found->second);
}

/// Those of the gaps of the present event; one that rests tells no time.
void SensitivityUpdate::keep_rates() {
  rates_.clear();
  if (!active() || is_start()) return;
  for (const Gap& gap : at_.passage.gaps | std::views::reverse) {
    if (gap.law < 0) continue;
    Sensitivities::GapRate rate = maps_.gap_rate(gap, at_.passage.before, maps_.dx());
    if (!rests(gap, rate)) rates_.emplace_back(gap.law, std::move(rate));
  }
}

/// Does the mode before or behind the present event begin or end where its formulas have no derivatives?
bool SensitivityUpdate::passes_rough_end(const Mode& before, const Mode& after) {
  if (!jets_.holds_ends()) return false;
  for (int i = 0; i < at_.system.m(); ++i)
    if (jets_.all().is_held(i, before) || jets_.all().is_held(i, after)) return true;
  return false;
}

/// The state goes on without them.
void SensitivityUpdate::end(const std::string& why) {
  why_none_ = fmt::format("; no sensitivities from t = {:.10g} on: {}", at_.now.t, why);
  maps_.end();
  at_.now.dx_dq.resize(0, 0);
  at_.now.dlambda_dq.resize(0, 0);
}

/// Where the derivatives of the stages are not finite, or their matrix is singular.
Matrix SensitivityUpdate::without() {
  constexpr double eps = std::numeric_limits<double>::epsilon();  // no step makes them grow by as much
  if (maps_.dx().cwiseAbs().maxCoeff() > eps * std::numeric_limits<double>::max())
    end("they are larger than doubles");
  else if (jets_.all().has_rough_laws() || !maps_.have_equations_derivatives(at_.now.t, at_.now.x, at_.now.lambda))
    end("the equations have no derivatives there");
  else
    record_.finish(Status::not_solved,
           fmt::format("stopped at {}: the matrix of the sensitivities is singular", record_.place(at_.now)));
  return {};
}

void SensitivityUpdate::leave(const Step& before, const Jet& after, bool x_jumped, const JumpTaken& jump) {
  keep_rates();
  if (!active()) return;
  const bool starts = is_start();
  if (!begin(before, after, x_jumped, jump)) return;
  Sensitivities::Values values = maps_.complete(after, maps_.dx());
  if (!starts && (ends_span_between(values.dx) || is_lost(before))) return;
  if (starts) terms_ = maps_.moved().size() > 0 ? sizes(values.dx).cwiseMax(sizes(maps_.moved())) : sizes(values.dx);
  maps_.take(values.dx);
  at_.now.dx_dq = std::move(values.dx);
  at_.now.dlambda_dq = std::move(values.dlambda);
}

/// S⁺ in the mode just entered. False: there is none, or the run has ended.
bool SensitivityUpdate::begin(const Step& before, const Jet& after, bool x_jumped, const JumpTaken& jump) {
  const bool starts = is_start();
  // √|s| has an integral on the way from s = 0, its derivative none that a step would know.
  if (passes_rough_end(before.mode, after.mode)) {
    end("the equations have no derivatives at the end of the mode");
  } else if (starts && !maps_.have_formulas_one_side()) {
    end("a formula of parameters has a kink at their values, and derivatives by what moves it may have two sides");
  } else if (!enter(before, after, x_jumped, jump)) {
    return false;
  } else if (starts) {
    watch_ends(&after, {});
    watch_start(after, jump.change.size() > 0);
  } else {
    watch_moment(after, x_jumped);
  }
  is_passed_ = true;
  return active();
}

/// Is no digit of S⁺ sure, since the rate of a reset that tells the time is the rounding of its terms? The run ends then.
bool SensitivityUpdate::is_lost(const Step& before) {
  const auto cancels = [&](int reset) {
    const Sensitivities::GapRate rate = maps_.gap_rate({.reset = reset}, at_.passage.before, before_);
    return std::abs(rate.by_t) < least_rate * rate.moves;
  };
  const auto fired = moment_.fired | std::views::drop(static_cast<std::ptrdiff_t>(moment_.fired_now));
  const bool tell_time = !moment_.has_followers;  // else a transition has moved their conditions
  if (maps_.dx().allFinite() && !(tell_time && std::ranges::any_of(fired, cancels))) return false;
  record_.finish(Status::not_solved,
                 fmt::format("stopped at {}: the sensitivities are lost in rounding at this event",
                             record_.place(before)));
  return true;
}

/// The equations become those of a mode of the present state. False: they are not known, or have no derivatives.
bool SensitivityUpdate::look_across(const Mode& mode) {
  if (mode.empty()) return false;
  for (int i = 0; i < at_.system.m(); ++i)
    if (jets_.all().is_held(i, mode)) return false;
  const Jet across = jets_.all().solve(mode, at_.now.t, at_.now.x, at_.now.lambda);
  if (!across.consistent || jets_.structure(across).is_high_index) return false;
  integrator_.use_equations(across);
  return true;
}

/// Off the constraints, a state returns to them at once: to those of the mode, and where x jumps by impulses to those that
/// hold across the jump, w = 0 of each law with an impulse, though the mode behind it may leave them at once. False:
/// these are not known, and derivatives end.
bool SensitivityUpdate::move_onto_constraints(const Jet& after, const JumpTaken& jump) {
  const bool is_left = jump.change.size() > 0 && jump.mode != after.mode;
  if (is_left && !look_across(jump.mode)) {
    end("which constraints hold across the jump is not known");
    return false;
  }
  if (is_start())
    maps_.begin(at_.now.t, at_.now.x, at_.now.lambda, jump.change);
  else
    maps_.project(at_.now.t, at_.now.x, at_.now.lambda, jump.change);
  if (is_left) integrator_.use_equations(after);
  return true;
}

/// S⁺ of the differential part. False: it does not exist: the run has ended, or the derivatives have.
bool SensitivityUpdate::enter(const Step& before, const Jet& after, bool x_jumped, const JumpTaken& jump) {
  before_ = maps_.dx();
  if (is_start()) {
    if (!move_onto_constraints(after, jump)) return false;
    before_ = maps_.dx();
    return true;
  }
  if (!x_jumped && !switch_laws(before, after)) return false;
  std::vector<MomentEvent> events;
  if (!is_passed_) {
    moment_.has_jumped |= x_jumped;
    watch_repeats(before.mode, after.mode);
    events = events_of_moment(after.mode);
  }
  if (has_orders(events)) return pass_in_orders(std::move(events), after, jump);
  return !x_jumped || jump_of_x(after, jump);
}

/// S⁺ where x jumps. What jumps at once behind events of several orders jumps after each of them in its own way.
bool SensitivityUpdate::jump_of_x(const Jet& after, const JumpTaken& jump) {
  if (is_passed_ && moment_.is_in_orders) {
    const MomentEvent first = moment_.gaps.empty() ? event_of({.reset = moment_.fired.front()}) : event_of(moment_.gaps.front());
    end_between(first, event_of({.reset = moment_.fired.back()}), "of their orders it is not known how the solution goes on");
    return false;
  }
  if (!move_onto_constraints(after, jump)) return false;
  go_from_event(after, true);
  return true;
}

/// S⁺ where x does not jump, by one time of the event. False: the run has ended.
bool SensitivityUpdate::switch_laws(const Step& before, const Jet& after) {
  // Nothing happens to S where the mode goes on (grazing): its dt* need not exist. The time is that of laws that leave
  // their branches, not of those that are at an end of theirs and stay.
  const bool switches = before.mode != after.mode;
  const std::vector<Gap> leaving = switching_gaps(before.mode, after.mode);
  if (switches && !leaving.empty() && leaving.size() < at_.passage.gaps.size()) take_time_of(leaving);
  if (switches && at_.passage.rests) {
    record_.finish(Status::not_solved,
                   fmt::format("stopped at {}: the moment of this event is no smooth function of starts "
                               "and parameters, which the sensitivities need",
                               record_.place(before)));
    return false;
  }
  if (switches) go_from_event(after, false);
  return true;
}

/// S⁺ by that at the event.
void SensitivityUpdate::go_from_event(const Jet& after, bool x_jumped) {
  maps_.leave(after);
  terms_ = terms_behind(after, x_jumped);
}

/// The gaps of the present event whose laws change their branch.
std::vector<Gap> SensitivityUpdate::switching_gaps(const Mode& before, const Mode& after) const {
  std::vector<Gap> gaps;
  for (const Gap& gap : at_.passage.gaps) {
    const auto law = static_cast<std::size_t>(std::max(gap.law, 0));
    if (gap.law >= 0 && before[law] != after[law]) gaps.push_back(gap);
  }
  return gaps;
}

}  // namespace perp

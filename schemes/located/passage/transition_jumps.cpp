// Transitions in which x jumps: impacts, jumps of least norm, accumulation points, and the end of a solution.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/core/branches.hpp>
#include <perp/schemes/capturing/nonlinear_capturing.hpp>
#include <perp/schemes/events/events.hpp>
#include <perp/schemes/located/passage/mode_transition.hpp>
#include <perp/schemes/located/transition/jumps.hpp>
#include <perp/schemes/located/transition/nearest_in_mode.hpp>

namespace perp {
namespace {

constexpr double near_limit = 1e-3;  ///< of the time since the start: what is left to an accumulation that other signs tell, too
constexpr int most_impacts = 1000;  ///< at one moment
/// A probe of NonlinearCapturing::start is h·2^first_probe, or up to 2^4 shorter.
constexpr int moment_bits = 4 - first_probe;
constexpr double same_jump = 1e-5;  ///< relative: a short step's end and the jump it stands for
constexpr double near_only_jump = 1e-3;  ///< the same where there is one alone: large rates move much else in the step

/// A mode of which the jets tell nothing: not determined, or without a Taylor series.
bool has_undetermined_mode(const Selection& selection) {
  return std::any_of(selection.rejected.begin(), selection.rejected.end(),
                     [](const auto& rejected) { return std::isinf(rejected.second); });
}

/// Is a jump at the start of this size, of variables with a derivative, within the errors of x0?
bool is_within(const DcsEvaluator& evaluator, const Vector& errors, const Vector& change,
               const std::vector<Event>& events) {
  for (int j = 0; j < evaluator.n(); ++j)
    if (evaluator.is_differential(j) && !(std::abs(change[j]) <= errors[j])) return false;
  return !events.empty() && events.back().kind == EventKind::jump;
}

/// May λ or w have an impulse on this branch?
bool may_have_impulse(const Branch& branch) {
  const Range& free = is_vertical(branch) ? branch.lambda : branch.w;
  return (is_vertical(branch) || branch.a == 0) && !(std::isfinite(free.lower) && std::isfinite(free.upper));
}

/// The mode whose equations hold across a jump: laws with an impulse stay on the branches that have it, others are what
/// they are afterwards. Empty: which have one is not known, and matters.
Mode mode_across(const std::vector<Law>& laws, const JumpHere& jump, const Mode& after) {
  Mode mode = after;
  if (jump.carriers) {
    for (const int i : *jump.carriers) mode[static_cast<std::size_t>(i)] = jump.mode[static_cast<std::size_t>(i)];
    return mode;
  }
  for (std::size_t i = 0; i < mode.size(); ++i)
    if (jump.mode[i] != after[i] && may_have_impulse(laws[i].branches[static_cast<std::size_t>(jump.mode[i])])) return {};
  return mode;
}

/// Of the jumps that there are the one to the present state. Null: none leads near it.
const Jump* jump_to_here(const LocatedState& at, ModeJets& jets, const Jumps& jumps) {
  const Jump* nearest = nullptr;
  double least = jumps.complete && jumps.found.size() == 1 ? near_only_jump : same_jump;
  for (const Jump& jump : jumps.found) {
    double distance = 0;
    for (int j = 0; j < at.system.n(); ++j)
      if (jets.evaluator().is_differential(j))
        distance = std::max(distance, std::abs(jump.x[j] - at.now.x[j]) /
                                          std::max(at.scales.x[j], std::abs(at.now.x[j])));
    if (!(distance <= least)) continue;
    least = distance;
    nearest = &jump;
  }
  return nearest;
}

/// Why a run goes on to first order where no series starts after a short step.
const char* why_first_order(bool jumped, bool is_open) {
  if (jumped) return "the state after a jump is known to first order only";
  return is_open ? "the index of the mode is not resolved"
                 : "short implicit steps go on where no Taylor series was found to";
}

}  // namespace

/// The event of a contact of an impact, from that x to the present one.
Event ModeTransition::impact_of(int law, const Step& before, const Vector& x_before) {
  Event event = event_here(EventKind::jump, at_.now.t, x_before);
  event.law = law;
  event.from = event.to = before.mode.empty() ? -1 : before.mode[static_cast<std::size_t>(law)];
  event.note = "impact";
  return event;
}

/// The contacts that close now, as Newton's law says, and on from there. False: none closes.
bool ModeTransition::impact(const Step& before) {
  if (!impact_) return false;
  // A run that begins in the moment of an impact has not seen how far positions go: their units tell.
  const std::optional<Impact::Result> result = (*impact_)(at_.now.t, at_.now.x, at_.largest.cwiseMax(at_.scales.x));
  if (!result) return false;
  const Vector x_before = at_.now.x;
  if (++impacts_at_once_ > most_impacts) return false;
  at_.now.x = result->x;
  if (impacts_at_once_ == 1) contacts_told_.clear();
  int signature = 5;
  for (const int law : result->laws) {
    record_.events().push_back(impact_of(law, before, x_before));
    contacts_told_.push_back(law);
    signature = 31 * signature % 1'000'003 + law;
  }
  ++record_.counts()["impacts"];
  run_.sensitivity.impact(*impact_, *result, x_before);
  accumulate(at_.now.t, signature, result->laws);
  if (record_.steps > 0) record_.row(before, false);
  if (record_.is_open()) go_on(before, {at_.all_laws}, {}, JumpOfX::by_contacts);
  return true;
}

/// The limit of short implicit steps from the present state becomes the present one; its events. Empty: no step is
/// solved.
std::optional<std::vector<Event>> ModeTransition::step_of_moment(const Step& before) {
  const bool first = record_.is_at_start();
  const ResetWatch::Errors errors = first ? run_.sides.errors_at_start() : run_.sides.errors_at_event(before);
  // No step of those that tell a jump is shorter than the moment.
  const double h = std::max(1e-6 * at_.scales.time, std::ldexp(errors.t, moment_bits));
  NonlinearCapturing capturing(at_.system, {.h = h, .selector = Selector::minimal_norm});
  if (!first) capturing.remember(before.mode);
  capturing.set_start_errors(errors.x, errors.t);
  std::vector<Event> events;
  const Vector x_before = at_.now.x;
  if (capturing.start(at_.now.t, at_.now.x, h, events).status != Status::solved) return std::nullopt;
  at_.now.x = events.empty() ? capturing.x() : events.back().x_after;
  at_.now.lambda = capturing.lambda();
  at_.now.w = capturing.w();
  at_.now.mode = capturing.mode();
  // To the end of a mode that is nearer than t can tell nothing jumps.
  if (first && is_within(run_.jets.evaluator(), errors.x, at_.now.x - x_before, events)) events.clear();
  return events;
}

/// Where no series starts after a short step the run goes on to first order. False: it is proved that nothing goes on.
bool ModeTransition::capture(const Step& from, const Selection& selection, bool jumped) {
  const bool is_open = jumped || has_undetermined_mode(selection);
  if (!is_open && is_proved_end(at_, from, run_.rest.h())) return false;
  run_.rest.capture(from, why_first_order(jumped, is_open));
  return true;
}

/// No continuous solution was found: the limit of short implicit steps, which is the jump of least
/// norm, or a continuation that the jets missed. False: there is none.
bool ModeTransition::jump(const Step& before, const Selection& before_jump) {
  const Vector x_before = at_.now.x;
  Step from = before;  // after a reset
  from.x = x_before;
  const std::optional<std::vector<Event>> events = step_of_moment(before);
  if (!events) {
    if (!has_undetermined_mode(before_jump)) return false;
    run_.rest.capture(from, "the Taylor series of the next mode does not exist");
    return true;
  }
  JumpHere here{x_before, {}, "no continuous solution goes on", at_.now.mode};
  const bool jumped = !events->empty();
  bool is_known = true;
  if (jumped) {
    here.event = events->back();
    is_known = polish_jump(at_, run_.jets, here) || record_.is_at_start();
  }
  const Selection selection = select(run_.jets.all(), at_.now.t, at_.now.x, at_.now.lambda, at_.now.mode, at_.all_laws,
                                     {.likely = [&] { return std::vector<Mode>{at_.now.mode}; }, .asks_all = at_.options.watches_repulsion});
  // A run that has come here keeps its order where the equations of the jump tell the state behind it, else it says that it does not.
  if (selection.admissible.empty() || !is_known) return capture(from, selection, jumped);
  if (jumped)
    land(before, selection, std::move(here));
  else
    land(before, selection);
  return true;
}

/// The jets missed a continuation in which x does not jump.
void ModeTransition::land(const Step& before, const Selection& selection) {
  const bool first = record_.is_at_start();
  const std::size_t chosen = run_.choice.choose(selection, at_.now, {});
  enter(selection.admissible[chosen]);
  run_.sensitivity.leave(before, selection.admissible[chosen].jet, false, {});
  if (!first) log_change(before, selection, chosen, JumpOfX::none);
}

/// x has jumped.
void ModeTransition::land(const Step& before, const Selection& selection, JumpHere jump) {
  const bool first = record_.is_at_start();
  const std::size_t chosen = run_.choice.choose(selection, at_.now, {});
  enter(selection.admissible[chosen]);
  run_.sensitivity.leave(before, selection.admissible[chosen].jet, true,
                         {at_.now.x - jump.x_before, mode_across(at_.system.laws, jump, at_.now.mode)});
  Event& event = jump.event;
  // What a run has come to is consistent up to the rounding of its moment, or written by resets.
  if (event.kind == EventKind::jump || !first) {
    Step from = before;
    from.x = jump.x_before;
    if (first) from.mode = at_.now.mode;  // none is known before
    event = jump_event(from, at_.now, size_of_jump(jump.x_before));
    event.t_before = at_.now.t;
    event.note = jump.note;
    event.dt_dq = at_.passage.dt;
    event.condition = at_.passage.condition;
  } else {
    event.x_after = at_.now.x;
  }
  record_.events().push_back(std::move(event));
  if (!first) record_.row(before, false);  // nothing determines the rest of a start that jumps
}

bool polish_jump(LocatedState& at, ModeJets& jets, JumpHere& here) {
  const Jumps jumps = find_jumps(at.system, jets.all(), at.now.t, here.x_before, Vector::Zero(at.system.m()));
  const Jump* nearest = jump_to_here(at, jets, jumps);
  if (nearest == nullptr) return false;
  at.now.x = nearest->x;
  at.now.lambda = nearest->lambda;
  here.mode = nearest->mode;
  here.carriers = nearest->carriers;
  here.note += jumps.found.size() == 1
                   ? "; one jump"
                   : fmt::format("; {} jumps, the smallest is taken", jumps.found.size());
  return true;
}

/// The limit is known by extrapolation; where the laws of its events have a branch that keeps their
/// arguments, the state on it, unless that is farther than the last events were apart.
Vector ModeTransition::state_at_limit(const AccumulationWatch::Limit& limit) {
  Mode mode = at_.now.mode;
  for (const int i : limit.laws) {
    const auto law = static_cast<std::size_t>(i);
    const auto& branches = at_.system.laws[law].branches;
    const auto vertical = std::find_if(branches.begin(), branches.end(), is_vertical);
    if (vertical == branches.end()) return limit.x;
    mode[law] = static_cast<int>(vertical - branches.begin());
  }
  ConsistentJets& jets = run_.jets.all();
  if (jets.solve(mode, limit.t, limit.x, at_.now.lambda).consistent) return limit.x;
  const auto nearest = nearest_in_mode(at_.system, jets, mode, limit.t, limit.x, at_.now.lambda);
  if (!nearest) return limit.x;
  const Vector way = (limit.x - at_.now.x).cwiseQuotient(at_.scales.x);
  const Vector rest = (*nearest - limit.x).cwiseQuotient(at_.scales.x);
  return rest.norm() <= way.norm() ? *nearest : limit.x;
}

/// Contacts that come to rest are told by the accumulation, laws that begin to slide are events.
bool ModeTransition::are_contacts(const std::vector<int>& laws) const {
  return std::all_of(laws.begin(), laws.end(), [this](int i) {
    const auto& branches = at_.system.laws[static_cast<std::size_t>(i)].branches;
    return std::none_of(branches.begin(), branches.end(), [](const Branch& branch) {
      return is_vertical(branch) && std::isfinite(branch.lambda.lower) &&
             std::isfinite(branch.lambda.upper);
    });
  });
}

/// The event of an accumulation point, with the state at it.
Event ModeTransition::accumulation_at(AccumulationWatch::Limit limit) {
  Event event;
  event.kind = EventKind::accumulation;
  event.t = limit.t;
  event.t_before = at_.now.t;
  event.t_after = limit.t;
  event.x_before = at_.now.x;
  // Contacts come to rest: an extrapolation leaves them a velocity that is none.
  if (impact_ && !limit.laws.empty())
    limit.x = impact_->rest(limit.t, limit.x, limit.laws);
  event.x_after = state_at_limit(limit);
  if (limit.laws.empty()) event.note = "resets accumulate; a contact law passes such a point";
  return event;
}

/// Goes to the accumulation point if the last events have one that is near.
void ModeTransition::close_accumulation() {
  const double elapsed = at_.now.t - at_.span.start;
  if (accumulation_.is_crowding(1e-3 * (at_.span.end - at_.span.start)))
    return run_.rest.capture(at_.now, "events follow each other ever faster, without an end");
  if (const auto limit = accumulation_.limit(1e-6 * elapsed)) close(*limit);
}

/// Are laws 0 with the one that fell by the size of their arguments, not by the moment?
bool ModeTransition::meets_by_size(const Step& state, const Selection& selection, const std::vector<int>& hit) const {
  const double together = at_.same_moment(state);
  const auto is_by_size = [&](const Gap& gap) {
    const Matrix& series = gap.of_lambda ? at_.passage.before.lambda : at_.passage.before.w;
    const double speed = series.cols() > 1 ? std::abs(series(gap.law, 1)) : 0;
    return std::abs(run_.locator.value(gap, state)) > speed * together;
  };
  // The gap that fell stands first.
  if (std::any_of(at_.passage.gaps.begin() + 1, at_.passage.gaps.end(), is_by_size)) return true;
  // Or does every continuation change a law that did not fall?
  return !selection.admissible.empty() && std::ranges::all_of(selection.admissible, [&](const Continuation& next) {
    for (std::size_t i = 0; i < next.mode.size(); ++i)
      if (next.mode[i] != state.mode[i] && !std::ranges::binary_search(hit, static_cast<int>(i)) &&
          !is_vertical(at_.system.laws[i].branches[static_cast<std::size_t>(state.mode[i])]))
        return true;
    return false;
  });
}

/// Where laws are 0 together by the size of their arguments their events may be the last ones of an accumulation that is
/// near: arguments that vanish like the square of the time left are 0 long before it. Goes there.
bool ModeTransition::close_at_corner(const Step& state, const Selection& selection, const std::vector<int>& hit) {
  if (hit.empty() || at_.passage.gaps.empty()) return false;
  const auto limit = accumulation_.limit(near_limit * (state.t - at_.span.start));
  if (!limit || !(limit->t > state.t) || !std::ranges::includes(limit->laws, hit)) return false;
  return meets_by_size(state, selection, hit) && close(*limit);
}

/// Where no continuation is found the state may be within the rounding of an accumulation that is near: the last impact
/// before it leaves a velocity that its moment does not tell from rest. Goes there.
bool ModeTransition::close_before_rest() {
  const auto limit = accumulation_.limit(near_limit * (at_.now.t - at_.span.start));
  return limit && !limit->laws.empty() && limit->t > at_.now.t && close(*limit);
}

/// Goes to this accumulation point, where the span reaches it.
bool ModeTransition::close(AccumulationWatch::Limit limit) {
  accumulation_.forget();
  if (limit.t >= at_.span.end) return false;
  const Event event = accumulation_at(limit);
  record_.events().push_back(event);
  if (limit.laws.empty()) {
    record_.finish(Status::not_solved, fmt::format("resets accumulate at t = {:.10g} (step {}): a contact "
                                                   "law passes such an accumulation",
                                                   limit.t, record_.steps));
    return true;
  }
  run_.sensitivity.at_limit(limit.dx, limit.dt);
  at_.now.t = limit.t;
  at_.now.x = event.x_after;
  contacts_told_ = limit.laws;
  const Step before = at_.now;
  go_on(before, {limit.laws}, {}, are_contacts(limit.laws) ? JumpOfX::by_contacts : JumpOfX::none);
  return true;
}

}  // namespace perp

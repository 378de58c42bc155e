#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/core/branches.hpp>
#include <perp/schemes/capturing/nonlinear_capturing.hpp>
#include <perp/schemes/events/events.hpp>
#include <perp/schemes/integrate.hpp>
#include <perp/schemes/jumps/consistent_jumps.hpp>
#include <perp/schemes/located/located_run.hpp>
#include <perp/schemes/located/transition/jumps.hpp>
#include <perp/schemes/located/transition/nearest_in_mode.hpp>

namespace perp {
namespace {

constexpr int most_impacts = 1000;  ///< at one moment
/// A probe of NonlinearCapturing::start is h·2^first_probe, or up to 2^4 shorter.
constexpr int moment_bits = 4 - first_probe;
constexpr double same_jump = 1e-5;  ///< relative: a short step's end and the jump it stands for

/// A mode of which the jets tell nothing: not determined, or without a Taylor series.
bool has_undetermined_mode(const Selection& selection) {
  return std::any_of(selection.rejected.begin(), selection.rejected.end(),
                     [](const auto& rejected) { return std::isinf(rejected.second); });
}

}  // namespace

/// Is a jump at the start of this size, of variables with a derivative, within the errors of x0?
bool LocatedRun::is_within(const Vector& errors, const Vector& change,
                           const std::vector<Event>& events) const {
  for (int j = 0; j < system_.n(); ++j)
    if (evaluator_.is_differential(j) && !(std::abs(change[j]) <= errors[j])) return false;
  return !events.empty() && events.back().kind == EventKind::jump;
}

/// The contacts that close now, as Newton's law says, and on from there. False: none closes.
bool LocatedRun::impact(const Step& before) {
  if (!impact_) return false;
  const std::optional<Impact::Result> result = (*impact_)(now_.t, now_.x, largest_);
  if (!result) return false;
  const Vector x_before = now_.x;
  if (++impacts_at_once_ > most_impacts) return false;
  now_.x = result->x;
  int signature = 5;
  for (const int law : result->laws) {
    Event event;
    event.kind = EventKind::jump;
    event.t = event.t_before = event.t_after = now_.t;
    event.law = law;
    event.from = event.to = before.mode.empty() ? -1 : before.mode[static_cast<std::size_t>(law)];
    event.x_before = x_before;
    event.x_after = now_.x;
    event.size = (now_.x - x_before).norm();
    event.note = "impact";
    event.dt_dq = passage_.dt;
    event.condition = passage_.condition;
    result_.events.push_back(std::move(event));
    signature = 31 * signature % 1'000'003 + law;
  }
  ++result_.counts["impacts"];
  if (sensitivities_.active())
    sensitivities_.impact(*impact_, *result, now_.t, x_before, options_.restitution, scales_);
  accumulation_.add(now_.t, now_.x, signature, result->laws, sensitivities_.at_event(),
                    sensitivities_.event_time());
  if (steps_ > 0) record_also(before);
  if (result_.status == Status::never_run) go_on(before, all_laws_, {}, JumpOfX::by_contacts);
  return true;
}

/// No continuous solution was found: the limit of short implicit steps, which is the jump of least
/// norm, or a continuation that the jets missed. False: there is none.
bool LocatedRun::jump(const Step& before, const Selection& before_jump) {
  const bool first = steps_ == 0 && result_.t.empty();
  const ResetWatch::Errors errors = first ? errors_at_start() : errors_at_event(before);
  // No step of those that tell a jump is shorter than the moment.
  const double h = std::max(1e-6 * scales_.time, std::ldexp(errors.t, moment_bits));
  NonlinearCapturing capturing(system_, {.h = h, .selector = Selector::minimal_norm});
  if (!first) capturing.remember(before.mode);
  capturing.set_start_errors(errors.x, errors.t);
  std::vector<Event> events;
  const Vector x_before = now_.x;
  Step from = before;  // after a reset
  from.x = x_before;
  if (capturing.start(now_.t, now_.x, h, events).status != Status::solved) {
    if (!has_undetermined_mode(before_jump)) return false;
    capture_the_rest(from, "the Taylor series of the next mode does not exist");
    return true;
  }
  now_.x = events.empty() ? capturing.x() : events.back().x_after;
  now_.lambda = capturing.lambda();
  now_.w = capturing.w();
  now_.mode = capturing.mode();
  // To the end of a mode that is nearer than t can tell nothing jumps.
  if (first && is_within(errors.x, now_.x - x_before, events)) events.clear();
  std::string note = "no continuous solution goes on";
  if (!events.empty()) note += polish_jump(x_before);
  const Selection selection = select(jets_, now_.t, now_.x, now_.lambda, now_.mode, all_laws_);
  if (selection.admissible.empty()) {
    const bool is_open = !events.empty() || has_undetermined_mode(selection);
    if (!is_open && is_proved_end(from)) return false;
    capture_the_rest(from, !events.empty() ? "the state after a jump is known to first order only"
                           : is_open
                               ? "the index of the mode is not resolved"
                               : "short implicit steps go on where no Taylor series was found to");
    return true;
  }
  const std::size_t chosen = choose(selection, now_, {});
  enter(selection.admissible[chosen]);
  if (!events.empty()) jump_ = now_.x - x_before;
  leave_event(before, selection.admissible[chosen].jet, !events.empty());
  jump_.resize(0);
  if (events.empty()) {
    if (!first) log_change(before, selection, chosen, JumpOfX::none);
    return true;
  }
  Event event = std::move(events.back());
  // The end of a mode is consistent up to the rounding of its moment.
  if (event.kind == EventKind::jump || (!first && before.x == x_before)) {
    event = jump_event(before, now_, event.size);
    event.t_before = now_.t;
    event.note = note;
    event.dt_dq = passage_.dt;
    event.condition = passage_.condition;
  } else {
    event.x_after = now_.x;
  }
  result_.events.push_back(std::move(event));
  record_also(before);
  return true;
}

/// The short step knows where a jump leads up to its own length: the jump equations of the modes
/// know it to rounding, and how many jumps there are.
std::string LocatedRun::polish_jump(const Vector& x_before) {
  const Jumps jumps = find_jumps(system_, jets_, now_.t, x_before, Vector::Zero(system_.m()));
  const Jump* nearest = nullptr;
  double least = same_jump;
  for (const Jump& jump : jumps.found) {
    double distance = 0;
    for (int j = 0; j < system_.n(); ++j)
      if (evaluator_.is_differential(j))
        distance = std::max(distance, std::abs(jump.x[j] - now_.x[j]) /
                                          std::max(scales_.x[j], std::abs(now_.x[j])));
    if (distance > least) continue;
    least = distance;
    nearest = &jump;
  }
  if (nearest == nullptr) return {};
  now_.x = nearest->x;
  now_.lambda = nearest->lambda;
  return jumps.found.size() == 1
             ? "; one jump"
             : fmt::format("; {} jumps, the smallest is taken", jumps.found.size());
}

/// Is it proved that no continuous solution starts here, nor after a jump? Of affine systems alone, by the
/// limits of all implicit steps or, from a state that is rounded, by steps that are enumerated; of others
/// Newton's method has found nothing. What overflows where it is squared decides nothing either.
bool LocatedRun::is_proved_end(const Step& state) const {
  if (!std::isfinite(state.x.squaredNorm()) || !std::isfinite(scales_.x.squaredNorm())) return false;
  Dcs alone = system_;
  alone.resets.clear();
  const std::optional<Lcs> affine = as_lcs(alone);
  if (!affine) return false;
  JumpOptions options;
  if (state.mode.size() == system_.laws.size()) options.present = state.mode;
  if (consistent_jumps(*affine, state.x, state.t, options).status == Status::no_solution) return true;
  const BackwardEuler scheme{.h = captured_h()};
  const double moment = state.t + 0x1p-30 * scheme.h;
  const Trajectory steps = integrate(*affine, state.x, {state.t, span_.end}, scheme,
                                     {.observer = [&](const Step& at) { return at.t <= moment; }});
  return steps.status == Status::no_solution && steps.t.back() <= moment;
}

/// No way on was found: says so with the violation of every mode.
void LocatedRun::end_here(const Step& state, const Selection& selection) {
  const std::string violations = modes_text(system_.laws, selection.rejected);
  const bool is_decided = is_proved_end(state);
  if (is_decided) {
    Event event;
    event.kind = EventKind::no_solution;
    event.t = event.t_before = event.t_after = state.t;
    event.x_before = event.x_after = state.x;
    event.note = "no continuation and no jump; violations of the modes: " + violations;
    result_.events.push_back(event);
  }
  now_ = state;
  record(true);
  const Status status = is_decided           ? Status::no_solution
                        : selection.complete ? Status::not_solved
                                             : Status::not_enumerated;
  const std::string modes =
      system_.laws.empty() ? "" : "; violations of the modes: " + violations;
  finish(status, fmt::format("{} after {}{}", is_decided ? "no solution" : "no continuation found",
                             place(state), modes));
}

/// The limit is known by extrapolation; where the laws of its events have a branch that keeps their
/// arguments, the state on it, unless that is farther than the last events were apart.
Vector LocatedRun::state_at_limit(const AccumulationWatch::Limit& limit) {
  Mode mode = now_.mode;
  for (const int i : limit.laws) {
    const auto law = static_cast<std::size_t>(i);
    const auto& branches = system_.laws[law].branches;
    const auto vertical = std::find_if(branches.begin(), branches.end(), is_vertical);
    if (vertical == branches.end()) return limit.x;
    mode[law] = static_cast<int>(vertical - branches.begin());
  }
  if (jets_.solve(mode, limit.t, limit.x, now_.lambda).consistent) return limit.x;
  const auto nearest = nearest_in_mode(system_, jets_, mode, limit.t, limit.x, now_.lambda);
  if (!nearest) return limit.x;
  const Vector way = (limit.x - now_.x).cwiseQuotient(scales_.x);
  const Vector rest = (*nearest - limit.x).cwiseQuotient(scales_.x);
  return rest.norm() <= way.norm() ? *nearest : limit.x;
}

/// Goes to the accumulation point if the last events have one that is near.
void LocatedRun::close_accumulation() {
  if (accumulation_.is_crowding(1e-3 * (span_.end - span_.start))) {
    capture_the_rest(now_, "events follow each other ever faster, without an end");
    return;
  }
  const double shortest = 1e-6 * (now_.t - span_.start);
  std::optional<AccumulationWatch::Limit> limit = accumulation_.limit(shortest);
  if (!limit) return;
  accumulation_.forget();
  if (limit->t >= span_.end) return;
  Event event;
  event.kind = EventKind::accumulation;
  event.t = limit->t;
  event.t_before = now_.t;
  event.t_after = limit->t;
  event.x_before = now_.x;
  // Contacts come to rest: an extrapolation leaves them a velocity that is none.
  if (impact_ && !limit->laws.empty())
    limit->x = impact_->rest(limit->t, limit->x, limit->laws);
  event.x_after = state_at_limit(*limit);
  if (limit->laws.empty()) {
    event.note = "resets accumulate; a contact law passes such a point";
    result_.events.push_back(event);
    finish(Status::not_solved, fmt::format("resets accumulate at t = {:.10g} (step {}): a contact "
                                           "law passes such an accumulation",
                                           limit->t, steps_));
    return;
  }
  result_.events.push_back(event);
  if (sensitivities_.active()) sensitivities_.set_event(limit->dx, limit->dt);
  now_.t = limit->t;
  now_.x = event.x_after;
  const Step before = now_;
  // Contacts that come to rest are told by the accumulation, laws that begin to slide are events.
  const bool are_contacts = std::all_of(limit->laws.begin(), limit->laws.end(), [this](int i) {
    const auto& branches = system_.laws[static_cast<std::size_t>(i)].branches;
    return std::none_of(branches.begin(), branches.end(), [](const Branch& branch) {
      return is_vertical(branch) && std::isfinite(branch.lambda.lower) &&
             std::isfinite(branch.lambda.upper);
    });
  });
  go_on(before, limit->laws, {}, are_contacts ? JumpOfX::by_contacts : JumpOfX::none);
}

}  // namespace perp

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/schemes/events.hpp>
#include <perp/schemes/located/jumps.hpp>
#include <perp/schemes/located/located_run.hpp>
#include <perp/schemes/nonlinear_capturing.hpp>
#include <perp/schemes/run.hpp>

namespace perp {
namespace {

constexpr int most_impacts = 1000;  ///< at one moment
constexpr double same_jump = 1e-5;  ///< relative: a short step's end and the jump it stands for

}  // namespace

/// The contacts that close now, as Newton's law says, and on from there. False: none closes.
bool LocatedRun::impact(const Step& before) {
  if (!impact_) return false;
  const std::optional<Impact::Result> result = (*impact_)(now_.t, now_.x);
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
    sensitivities_.impact(*impact_, *result, now_.t, x_before, options_.restitution);
  accumulation_.add(now_.t, now_.x, signature, result->laws, sensitivities_.at_event(),
                    sensitivities_.event_time());
  if (steps_ > 0) record_also(before);
  if (result_.status == Status::never_run) go_on(before, all_laws_, {}, true);
  return true;
}

/// No continuous solution was found: the limit of short implicit steps, which is the jump of least
/// norm, or a continuation that the jets missed. False: there is none.
bool LocatedRun::jump(const Step& before) {
  const bool first = steps_ == 0 && result_.t.empty();
  const double h = 1e-6 * (span_.end - span_.start);
  NonlinearCapturing capturing(system_, {.h = h, .selector = Selector::minimal_norm});
  if (!first) capturing.remember(before.mode);
  std::vector<Event> events;
  const Vector x_before = now_.x;
  if (capturing.start(now_.t, now_.x, h, events).status != Status::solved) return false;
  now_.x = events.empty() ? capturing.x() : events.back().x_after;
  now_.lambda = capturing.lambda();
  now_.w = capturing.w();
  now_.mode = capturing.mode();
  std::string note = "no continuous solution goes on";
  if (!events.empty()) note += polish_jump(x_before);
  const Selection selection = select(jets_, now_.t, now_.x, now_.lambda, now_.mode, all_laws_);
  if (selection.admissible.empty()) {
    const bool undetermined =
        std::any_of(selection.rejected.begin(), selection.rejected.end(),
                    [](const auto& rejected) { return std::isinf(rejected.second); });
    if (!undetermined) return false;  // else nothing is known of the modes that are left
    capture_the_rest(before, "the index of the mode is not resolved");
    return true;
  }
  const std::size_t chosen = choose(selection, now_, {});
  enter(selection.admissible[chosen]);
  if (!events.empty()) jump_ = now_.x - x_before;
  leave_event(before, selection.admissible[chosen].jet, !events.empty());
  jump_.resize(0);
  if (events.empty()) {
    if (!first) log_change(before, selection, chosen, false);
    return true;
  }
  Event event = std::move(events.back());
  if (event.kind == EventKind::jump) {
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
  double distance = same_jump * (1 + now_.x.norm());
  for (const Jump& jump : jumps.found) {
    double square = 0;
    for (int j = 0; j < system_.n(); ++j)
      if (evaluator_.is_differential(j)) square += std::pow(jump.x[j] - now_.x[j], 2);
    if (std::sqrt(square) > distance) continue;
    distance = std::sqrt(square);
    nearest = &jump;
  }
  if (nearest == nullptr) return {};
  now_.x = nearest->x;
  now_.lambda = nearest->lambda;
  return jumps.found.size() == 1
             ? "; one jump"
             : fmt::format("; {} jumps, the smallest is taken", jumps.found.size());
}

/// The solution ends: says so with the violation of every mode.
void LocatedRun::end_here(const Step& state, const Selection& selection) {
  std::string violations;
  for (const auto& [mode, violation] : selection.rejected)
    violations += fmt::format("{}[{}]: {:.3g}", violations.empty() ? "" : ", ",
                              describe(system_.laws, mode), violation);
  Event event;
  event.kind = EventKind::no_solution;
  event.t = event.t_before = event.t_after = state.t;
  event.x_before = event.x_after = state.x;
  event.note = "no continuation and no jump; violations of the modes: " + violations;
  result_.events.push_back(event);
  now_ = state;
  record(true);
  finish(
      selection.complete ? Status::no_solution : Status::not_enumerated,
      fmt::format("no solution after t = {:.10g} (step {}, mode [{}]); violations of the modes: {}",
                  state.t, steps_, describe(system_.laws, state.mode), violations));
}

/// The rest of the span by backward Euler, where the jets do not resolve the index of the mode or
/// events follow each other without a pattern.
void LocatedRun::capture_the_rest(const Step& state, const char* why) {
  const double from = state.t;  // `state` may be now_
  const double h = std::max((span_.end - span_.start) * 1e-4, (span_.end - from) * 1e-6);
  IntegrateOptions output = output_;
  std::erase_if(output.times, [&](double t) { return t <= state.t; });
  const BackwardEuler scheme{.h = h, .selector = Selector::minimal_norm};
  const Span span{state.t, span_.end};
  Trajectory rest;
  if (std::any_of(system_.laws.begin(), system_.laws.end(),
                  [](const Law& law) { return law.memory; })) {
    NonlinearCapturing capturing(system_, scheme);
    capturing.remember(state.mode);
    rest = run(capturing, system_.laws, state.x, span, h,
               {scheme.refinements, scheme.split_at_events}, output);
  } else {
    rest = integrate(system_, state.x, span, scheme, output);
  }
  for (std::size_t k = 0; k < rest.size(); ++k) {
    Step step{rest.t[k], rest.x[k], rest.lambda[k], rest.w[k], rest.mode[k]};
    if (sensitivities_.active()) {  // the capturing scheme has none
      step.dx_dq.setConstant(system_.n(), options_.sensitivities.columns(), nan);
      step.dlambda_dq.setConstant(system_.m(), options_.sensitivities.columns(), nan);
    }
    result_.append(step);
  }
  for (const Event& event : rest.events) result_.events.push_back(event);
  now_ = {rest.t.back(), rest.x.back(), rest.lambda.back(), rest.w.back(), rest.mode.back()};
  for (const auto& [name, count] : rest.counts) result_.counts["captured_" + name] += count;
  finish(rest.status,
         fmt::format("from t = {:.10g} on by backward_euler, h = {:g}, first order ({}): {}", from,
                     h, why, rest.message));
}

/// Goes to the accumulation point if the last events have one that is near.
void LocatedRun::close_accumulation() {
  if (accumulation_.is_crowding(1e-3 * (span_.end - span_.start))) {
    capture_the_rest(now_, "events follow each other ever faster, without an end");
    return;
  }
  const double shortest = 1e-6 * std::max(1.0, std::abs(now_.t));
  const std::optional<AccumulationWatch::Limit> limit = accumulation_.limit(shortest);
  if (!limit) return;
  accumulation_.forget();
  if (limit->t >= span_.end) return;
  Event event;
  event.kind = EventKind::accumulation;
  event.t = limit->t;
  event.t_before = now_.t;
  event.t_after = limit->t;
  event.x_before = now_.x;
  event.x_after = limit->x;
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
  now_.x = limit->x;
  const Step before = now_;
  go_on(before, limit->laws, {}, true);
}

}  // namespace perp

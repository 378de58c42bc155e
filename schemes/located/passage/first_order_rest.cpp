// The rest of a span by backward Euler: called by the run and its transitions where Radau IIA cannot go on.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <iterator>

#include <perp/schemes/capturing/nonlinear_capturing.hpp>
#include <perp/schemes/check_options.hpp>
#include <perp/schemes/events/events.hpp>
#include <perp/schemes/located/passage/first_order_rest.hpp>
#include <perp/schemes/poles/pole_watch.hpp>
#include <perp/schemes/run/run.hpp>
#include <perp/schemes/run/run_end.hpp>

namespace perp {

/// What the captured run tells; its states are kept as parts of those of the whole run.
IntegrateOptions FirstOrderRest::output_from(double t) {
  IntegrateOptions output = record_.output();
  std::erase_if(output.times, [t](double time) { return time <= t; });
  output.state.from = state_of_rest_;
  if (output.state.keep)
    output.state.keep = [this](const std::string& of_rest) {
      state_of_rest_ = of_rest;
      record_.output().state.keep(kept_());
    };
  return output;
}

/// The captured run from a state: an ordinary one, but laws with memory go on in their branches, and
/// resets come from their sides.
Trajectory FirstOrderRest::run_from(const Step& state, const BackwardEuler& scheme) {
  const IntegrateOptions output = output_from(state.t);
  const Span span{state.t, at_.span.end};
  const bool has_memory = std::any_of(at_.system.laws.begin(), at_.system.laws.end(),
                                      [](const Law& law) { return law.memory; });
  if (!has_memory && sides_.watch().empty()) return integrate(at_.system, state.x, span, scheme, output);
  NonlinearCapturing capturing(at_.system, scheme);
  if (has_memory) capturing.remember(state.mode);
  if (!sides_.watch().empty())
    capturing.remember_sides(sides_.at_state(state), sides_.errors_of_sides());
  PoleWatch poles(at_.system);
  TimeSwitches switches(at_.system, TimeSwitches::Of::jumps);
  return run(capturing, at_.system.laws, state.x, span, scheme.h,
             {scheme.refinements, scheme.split_at_events, poles.empty() ? nullptr : &poles,
              switches.empty() ? nullptr : &switches}, output);
}

/// Is a change of x within the tolerance to which the run knows it?
bool FirstOrderRest::is_within_tolerance(const Vector& change) const {
  const Vector size = at_.scales.x.cwiseMax(at_.largest);
  return (change.cwiseAbs().array() <= at_.options.tol * size.array()).all();
}

/// A jump at the moment t itself that is within the tolerance of the state is none.
bool FirstOrderRest::counts(const Event& event, double t) const {
  return event.kind != EventKind::jump || event.t_after > t || !is_within_tolerance(event.x_after - event.x_before);
}

/// The changes of mode of the moment itself: the captured run begins after them.
void FirstOrderRest::log_fall_back(const Step& last, const Trajectory& rest) {
  const Mode& next = rest.mode.front();
  for (std::size_t i = 0; i < next.size() && i < last.mode.size(); ++i) {
    const int law = static_cast<int>(i);
    const bool is_logged =
        std::any_of(rest.events.begin(), rest.events.end(), [&](const Event& event) {
          return event.law == law && event.t_before <= last.t;
        });
    if (next[i] == last.mode[i] || is_logged) continue;
    Event event;
    event.kind = kind_of_change(at_.system.laws[i], last.mode[i], next[i]);
    event.t = event.t_before = event.t_after = last.t;
    event.law = law;
    event.from = last.mode[i];
    event.to = next[i];
    event.x_before = last.x;
    event.x_after = rest.x.front();
    event.note = "first order from here";
    record_.events().push_back(std::move(event));
  }
}

double FirstOrderRest::h() const {
  if (at_.options.output_step > 0) return at_.options.output_step;
  return std::max((at_.span.end - at_.span.start) / 1000, smallest_h(at_.span));
}

void FirstOrderRest::capture(const Step& state, const char* why) {
  const auto& restitution = at_.options.restitution;
  if (std::any_of(restitution.begin(), restitution.end(), [](double e) { return e > 0; })) {
    at_.now = state;
    if (record_.is_empty()) record_.row(at_.now, true);
    record_.finish(Status::not_solved,
                   fmt::format("stopped at {}: {}, and backward Euler, which would go on from there, has no "
                               "restitution",
                               record_.place(state), why));
    return;
  }
  from_ = state;
  why_ = why;
  go_on();
}

void FirstOrderRest::go_on() {
  const bool first = record_.is_at_start();
  const BackwardEuler scheme{.h = h()};
  const Trajectory rest = run_from(from_, scheme);
  take(rest, from_, first);
  const char* without = sensitivity_.active() ? "; no sensitivities from there" : "";
  record_.finish(rest.status, tell_first_order({from_.t, why_}, scheme.h, scheme.selector, without, rest.message,
                                               record_.result()));
}

/// The rows, events and counts of the captured run become those of this one.
void FirstOrderRest::take(const Trajectory& rest, const Step& last, bool first) {
  for (std::size_t k = 0; k < rest.size(); ++k)
    record_.result().append({rest.t[k], rest.x[k], rest.lambda[k], rest.w[k], rest.mode[k]});
  if (!first && rest.size() > 0) log_fall_back(last, rest);
  std::copy_if(rest.events.begin(), rest.events.end(), std::back_inserter(record_.events()),
               [&](const Event& event) { return first || counts(event, last.t); });
  if (rest.size() > 0)
    at_.now = {rest.t.back(), rest.x.back(), rest.lambda.back(), rest.w.back(), rest.mode.back()};
  for (const auto& [name, count] : rest.counts) record_.counts()["captured_" + name] += count;
}

}  // namespace perp

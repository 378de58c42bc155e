#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include <perp/schemes/capturing/nonlinear_capturing.hpp>
#include <perp/schemes/check_options.hpp>
#include <perp/schemes/events/events.hpp>
#include <perp/schemes/located/located_run.hpp>
#include <perp/schemes/run/run.hpp>

namespace perp {

/// The sides of the conditions of resets at a state, those after a jump to it as far as they are seen.
std::vector<int> LocatedRun::sides_at(const Step& state) {
  std::vector<int> sides;
  for (int k = 0; k < resets_.count(); ++k)
    sides.push_back(unsettled_ ? resets_.sign(k, state, *unsettled_) : resets_.side(k));
  return sides;
}

/// The captured run from a state: an ordinary one, but laws with memory go on in their branches, and
/// resets come from their sides.
Trajectory LocatedRun::captured_from(const Step& state, const BackwardEuler& scheme) {
  IntegrateOptions output = output_;
  std::erase_if(output.times, [&](double t) { return t <= state.t; });
  const Span span{state.t, span_.end};
  const bool has_memory = std::any_of(system_.laws.begin(), system_.laws.end(),
                                      [](const Law& law) { return law.memory; });
  if (!has_memory && resets_.empty()) return integrate(system_, state.x, span, scheme, output);
  NonlinearCapturing capturing(system_, scheme);
  if (has_memory) capturing.remember(state.mode);
  if (!resets_.empty())
    capturing.remember_sides(sides_at(state), unsettled_ ? *unsettled_ : errors_now());
  PoleWatch poles(system_);
  TimeSwitches switches(system_, TimeSwitches::Of::jumps);
  return run(capturing, system_.laws, state.x, span, scheme.h,
             {scheme.refinements, scheme.split_at_events, poles.empty() ? nullptr : &poles,
              switches.empty() ? nullptr : &switches}, output);
}

/// Is a change of x within the tolerance to which the run knows it?
bool LocatedRun::is_within_tolerance(const Vector& change) const {
  const Vector size = scales_.x.cwiseMax(largest_);
  return (change.cwiseAbs().array() <= options_.tol * size.array()).all();
}

/// The changes of mode of the moment itself: the captured run begins after them.
void LocatedRun::log_fall_back(const Step& last, const Trajectory& rest) {
  const Mode& next = rest.mode.front();
  for (std::size_t i = 0; i < next.size() && i < last.mode.size(); ++i) {
    const int law = static_cast<int>(i);
    const bool is_logged =
        std::any_of(rest.events.begin(), rest.events.end(), [&](const Event& event) {
          return event.law == law && event.t_before <= last.t;
        });
    if (next[i] == last.mode[i] || is_logged) continue;
    Event event;
    event.kind = kind_of_change(system_.laws[i], last.mode[i], next[i]);
    event.t = event.t_before = event.t_after = last.t;
    event.law = law;
    event.from = last.mode[i];
    event.to = next[i];
    event.x_before = last.x;
    event.x_after = rest.x.front();
    event.note = "first order from here";
    result_.events.push_back(std::move(event));
  }
}

/// The step of an ordinary captured run: that of the rows, if there is one.
double LocatedRun::captured_h() const {
  if (options_.output_step > 0) return options_.output_step;
  return std::max((span_.end - span_.start) / 1000, smallest_h(span_));
}

/// The rest of the span by backward Euler, where the jets do not resolve the index of the mode or
/// events follow each other without a pattern. Sensitivities end there: that scheme has none.
void LocatedRun::capture_the_rest(const Step& state, const char* why) {
  const auto rebounds = [](double e) { return e > 0; };
  if (std::any_of(options_.restitution.begin(), options_.restitution.end(), rebounds)) {
    now_ = state;
    if (result_.t.empty()) record(true);
    finish(Status::not_solved, fmt::format("stopped at {}: {}, and backward Euler, which would go on from "
                                           "there, has no restitution",
                                           place(state), why));
    return;
  }
  const double from = state.t;  // `state` may be now_
  const Step last = state;
  const bool first = steps_ == 0 && result_.t.empty();
  const BackwardEuler scheme{.h = captured_h()};
  const Trajectory rest = captured_from(state, scheme);
  for (std::size_t k = 0; k < rest.size(); ++k)
    result_.append({rest.t[k], rest.x[k], rest.lambda[k], rest.w[k], rest.mode[k]});
  if (!first && rest.size() > 0) log_fall_back(last, rest);
  // A jump at the moment itself that is within the tolerance of the state is none.
  for (const Event& event : rest.events)
    if (first || event.kind != EventKind::jump || event.t_after > from ||
        !is_within_tolerance(event.x_after - event.x_before))
      result_.events.push_back(event);
  if (rest.size() > 0)
    now_ = {rest.t.back(), rest.x.back(), rest.lambda.back(), rest.w.back(), rest.mode.back()};
  for (const auto& [name, count] : rest.counts) result_.counts["captured_" + name] += count;
  result_.provenance["first order from"] = fmt::format("{:.10g}", from);
  result_.provenance["first order by"] =
      fmt::format("backward_euler, h = {:g}, selector {}", scheme.h, to_string(scheme.selector));
  result_.provenance["first order because"] = why;
  finish(rest.status,
         fmt::format("first order from t = {:.10g} on by {} ({}{}): {}", from,
                     result_.provenance["first order by"], why,
                     sensitivities_.active() ? "; no sensitivities from there" : "", rest.message));
}

}  // namespace perp

// What a run keeps and tells: called by the run loops, once a row and once at the end.
#include <utility>

#include <perp/schemes/events/events.hpp>
#include <perp/schemes/run/recorder.hpp>

namespace perp {

bool Recorder::row(const Step& state) {
  pass(state);
  if (options_.keep || is_empty()) result_.append(state);
  return !options_.observer || options_.observer(state);
}

/// The straight line from the last row to this one. Multipliers that are not known at the start are those
/// of the end.
void Recorder::pass(const Step& state) {
  if (!options_.course) return;
  if (!is_empty() && state.t > last_.t) {
    if (last_.lambda.size() != state.lambda.size()) last_.lambda = state.lambda;
    if (last_.w.size() != state.w.size()) last_.w = state.w;
    options_.course({last_.t, state.t, [&](double s) {
                       return Step{last_.t + s * (state.t - last_.t),
                                   last_.x + s * (state.x - last_.x),
                                   last_.lambda + s * (state.lambda - last_.lambda),
                                   last_.w + s * (state.w - last_.w), state.mode};
                     }});
  }
  last_ = state;
}

void Recorder::finish(Status status, std::string message, double t, const Vector& x) {
  log_end(status, t, x, message, result_.events);
  result_.status = status;
  result_.message = std::move(message);
  if (several_ > 0) result_.counts["several_solutions"] = several_;
  if (ties_ > 0) result_.counts["ties"] = ties_;
}

}  // namespace perp

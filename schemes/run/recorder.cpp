// What a run keeps and tells: called by the run loops, once a row and once at the end.
#include <utility>

#include <perp/schemes/events/events.hpp>
#include <perp/schemes/run/recorder.hpp>

namespace perp {

bool Recorder::reset(const Step& before, bool is_end) {
  if (is_end && takes_rows() && !options_.only_times) return row(before);
  pass(before);
  return true;
}

bool Recorder::row(const Step& state) {
  pass(state);
  if (options_.keep || is_empty()) result_.append(state);
  return !options_.observer || options_.observer(state);
}

StepCourse straight_course(const Step& from, const Step& to) {
  return {from.t, to.t, [&from, &to](double s) {
            if (s == 1) return to;  // from + (to - from) is rounded beside it
            const auto between = [s](const Vector& a, const Vector& b) {
              if (a.size() != b.size()) return b;
              const Vector line = a + s * (b - a);
              return Vector(a.array().isNaN().select(b, line));
            };
            return Step{from.t + s * (to.t - from.t), between(from.x, to.x),
                        between(from.lambda, to.lambda), between(from.w, to.w), to.mode};
          }};
}

void Recorder::let_jump(const Scheme& scheme, int variables, int laws) {
  for (int j = 0; j < variables; ++j)
    if (scheme.is_algebraic(j)) jumping_.push_back(j);
  has_means_ = scheme.passes_jumps();
  for (int i = 0; options_.course && i < laws; ++i)
    if (scheme.argument_jumps(i)) jumping_arguments_.push_back(i);
}

void Recorder::pass(const Step& state) {
  if (!options_.course) return;
  if (!is_empty() && state.t > last_.t) {
    if (has_means_) last_.lambda.resize(0);
    if (last_.mode != state.mode || last_.t == jumped_at_) forget_what_jumps();
    options_.course(straight_course(last_, state));
  }
  last_ = state;
}

void Recorder::forget_what_jumps() {
  last_.lambda.resize(0);
  for (const Eigen::Index j : jumping_) last_.x[j] = nan;
  for (const Eigen::Index i : jumping_arguments_)
    if (i < last_.w.size()) last_.w[i] = nan;
}

void Recorder::finish(Status status, std::string message, double t, const Vector& x) {
  log_end(status, t, x, message, result_.events);
  result_.status = status;
  result_.message = std::move(message);
  if (several_ > 0) result_.counts["several_solutions"] = several_;
  if (ties_ > 0) result_.counts["ties"] = ties_;
}

}  // namespace perp

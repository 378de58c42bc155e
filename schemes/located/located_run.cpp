#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <perp/core/error.hpp>
#include <perp/schemes/check_options.hpp>
#include <perp/schemes/located/located_run.hpp>

namespace perp {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double smallest_share = 1e-14;  ///< of |t| + span: no step is shorter

/// Measured on smooth problems: below, more stages mean fewer steps for the same work.
int stages_for(const Located& options) {
  if (options.stages != 0) return options.stages;
  if (options.tol >= 1e-6) return 3;
  return options.tol >= 1e-10 ? 5 : 7;
}

Vector scale_of(const Located& options, int n) {
  return options.scale.size() == 0 ? Vector(Vector::Ones(n)) : options.scale;
}

void check(const Dcs& system, const Located& options) {
  if (!(options.tol >= 1e-14 && options.tol <= 1e-2))
    throw InvalidInput(
        fmt::format("tol must be in [1e-14, 1e-2] for scheme located but is {}", options.tol));
  if (options.stages != 0 && options.stages != 3 && options.stages != 5 && options.stages != 7)
    throw InvalidInput(fmt::format("stages must be 3, 5 or 7 but is {}", options.stages));
  if (options.scale.size() != 0 && options.scale.size() != system.n())
    throw InvalidInput(
        fmt::format("scale must have {} entries but has {}", system.n(), options.scale.size()));
  if (options.scale.size() != 0 && !(options.scale.minCoeff() > 0))
    throw InvalidInput("the scale of every variable must be positive");
  for (const double step : {options.first_step, options.fixed_step, options.output_step})
    if (!(step >= 0) || !std::isfinite(step))
      throw InvalidInput(fmt::format("a step length must not be negative but is {}", step));
  if (!(options.max_step > 0))
    throw InvalidInput(fmt::format("max_step must be positive but is {}", options.max_step));
  if (!options.restitution.empty() && static_cast<int>(options.restitution.size()) != system.m())
    throw InvalidInput(fmt::format("restitution must have {} entries but has {}", system.m(),
                                   options.restitution.size()));
}

}  // namespace

LocatedRun::LocatedRun(const Dcs& system, const Located& options, const IntegrateOptions& output)
    : system_((check(system, options), system)),
      options_(options),
      output_(output),
      stages_(stages_for(options)),
      flow_(system_, options.sensitivities.parameters),
      radau_(flow_, stages_,
             {.rtol = options.tol, .atol = options.tol * scale_of(options, system.n())}),
      jets_(system_),
      first_jets_(system_, 1),
      evaluator_(system_),
      watch_(stages_),
      switches_(system_),
      sensitivities_(system_, options_.sensitivities, flow_, jets_),
      impact_(Impact::of(system_, options.restitution)) {
  all_laws_.resize(static_cast<std::size_t>(system_.m()));
  std::iota(all_laws_.begin(), all_laws_.end(), 0);
}

Trajectory LocatedRun::operator()(const Vector& x0, Span span, std::vector<std::size_t> choices) {
  choices_ = std::move(choices);
  check_span(span, output_.times);
  if (x0.size() != system_.n())
    throw InvalidInput(fmt::format("x0 must have {} entries but has {}", system_.n(), x0.size()));
  if (!x0.allFinite()) throw InvalidInput("x0 must be finite");
  span_ = span;
  switch_ = switches_.next(span_.start, span_.end);
  begin(x0);
  cover();
  if (result_.status == Status::never_run)
    finish(Status::solved, fmt::format("reached t = {:.10g} in {} steps", now_.t, steps_));
  return std::move(result_);
}

void LocatedRun::cover() {
  while (result_.status == Status::never_run && now_.t < span_.end) {
    if (steps_ + rejected_ >= options_.max_steps) {
      finish(Status::not_solved, fmt::format("stopped at t = {:.10g}: {} steps were not enough",
                                             now_.t, options_.max_steps));
      return;
    }
    if (is_high_index_)
      capture_the_rest(now_, "the index of the mode is not resolved");
    else if (limit() - now_.t < shortest_step() && switch_)
      pass_time_switch();
    else
      advance();
  }
}

double LocatedRun::shortest_step() const {
  return smallest_share * (std::abs(now_.t) + (span_.end - span_.start));
}

double LocatedRun::longest_step() const {
  const double rest = limit() - now_.t;
  if (options_.fixed_step > 0) return std::min(options_.fixed_step, rest);
  return std::min({h_, options_.max_step, rest});
}

/// One accepted step, one event, or one rejected attempt.
void LocatedRun::advance() {
  double h = longest_step();
  const double rest = limit() - now_.t;
  if (rest - h < shortest_step()) h = rest;  // no sliver is left before the end
  if (!attempt(h)) return;
  const std::optional<GapWatch::Fall> fall = first_fall(h);
  // A fall that is found where the gaps are not resolved need not be the first.
  if (options_.fixed_step == 0 && !samples_resolved() && h > 16 * shortest_step()) {
    ++rejected_;
    h_ = h / 2;
    return;
  }
  if (fall)
    pass_event(*fall, h);
  else
    take_step(h);
}

/// Accepts the attempt of length h, in which no gap falls.
void LocatedRun::take_step(double h) {
  const double next = options_.fixed_step > 0 ? h : radau_.proposed_step();
  // Steps that were short because of an event or the end say nothing about the length wanted.
  h_ = h < h_ && options_.fixed_step == 0 ? std::max(next, std::min(h_, smooth_h_)) : next;
  smooth_h_ = h_;
  const double t_next = h == limit() - now_.t ? limit() : now_.t + h;
  report_between(h);
  if (result_.status != Status::never_run) return;
  accept(h, t_next);
  watch_resets();
  zero_steps_ = 0;
  record(is_asked(now_.t));
}

/// The stages of a step, to be accepted as they are. False: rejected, h_ is the next length.
bool LocatedRun::attempt(double h) {
  const Radau::Outcome outcome = radau_.attempt(h);
  if (outcome == Radau::Outcome::solved && (options_.fixed_step > 0 || radau_.error() <= 1))
    return true;
  ++rejected_;
  h_ = outcome == Radau::Outcome::solved ? std::min(radau_.proposed_step(), 0.9 * h) : h / 4;
  if (options_.fixed_step > 0 || h_ < shortest_step()) {
    const char* why = outcome == Radau::Outcome::solved     ? "the tolerance is not met"
                      : outcome == Radau::Outcome::diverged ? "Newton's method does not converge"
                                                            : "the domain of the equations ends";
    finish(Status::not_solved,
           fmt::format("stopped at t = {:.10g} (step {}, mode [{}]): {} however short the step; "
                       "backward_euler may pass here",
                       now_.t, steps_, describe(system_.laws, now_.mode), why));
  }
  return false;
}

/// The state at the end of the attempt. Algebraic unknowns come from the consistent jet: a stage
/// value of an index-2 multiplier is of order s only.
Step LocatedRun::state_at_attempt(double t) {
  Step state{t, Vector::Zero(system_.n()), Vector::Zero(system_.m()), Vector::Zero(system_.m()),
             now_.mode};
  flow_.scatter(radau_.end(), state.x, state.lambda);
  if (needs_jets_) {
    const Jet jet = jets_.solve(state.mode, t, state.x, state.lambda);
    if (jet.consistent && jet.determined) {
      state.x = jet.x.col(0);
      state.lambda = jet.lambda.col(0);
      state.w = jet.w.col(0);
      return state;
    }
  }
  radau_.interpolate_derivative(1, ydot_);
  if (!flow_.w(t, ydot_, radau_.end(), state.w)) state.w.setConstant(nan);
  return state;
}

/// ∂x/∂q at the end of the attempt; `state` gets it with its algebraic part.
Matrix LocatedRun::differentiate_attempt(Step& state) {
  Matrix S;
  if (!sensitivities_.step(radau_, S)) {
    finish(Status::not_solved,
           fmt::format("stopped at t = {:.10g} (step {}, mode [{}]): the matrix of "
                       "the sensitivities is singular",
                       now_.t, steps_, describe(system_.laws, now_.mode)));
    S = Matrix::Constant(system_.n(), options_.sensitivities.columns(), nan);
  }
  if (!needs_jets_) {
    state.dx_dq = S;
    state.dlambda_dq = Matrix::Zero(system_.m(), S.cols());
    return S;
  }
  const Jet jet = jets_.solve(state.mode, state.t, state.x, state.lambda);
  Sensitivities::Values values = sensitivities_.complete(jet, S);
  state.dx_dq = values.dx;
  state.dlambda_dq = std::move(values.dlambda);
  return std::move(values.dx);
}

/// Makes the end of the attempt of length h the present state.
void LocatedRun::accept(double h, double t_next) {
  if (radau_.h() != h && radau_.attempt(h) != Radau::Outcome::solved)
    finish(Status::not_solved, fmt::format("stopped at t = {:.10g} (step {}, mode [{}]): a step "
                                           "that was solved could not be solved again",
                                           now_.t, steps_, describe(system_.laws, now_.mode)));
  now_ = state_at_attempt(t_next);
  impacts_at_once_ = 0;
  if (sensitivities_.active()) sensitivities_.take(differentiate_attempt(now_));
  radau_.accept();
  ++steps_;
}

/// The next time at which a state is asked for.
double LocatedRun::next_output(double after) const {
  const auto& times = output_.times;
  const auto asked = std::upper_bound(times.begin(), times.end(), after);
  double next = asked == times.end() ? inf : *asked;
  if (options_.output_step > 0 && !output_.only_times) {
    const double d = options_.output_step;
    double k = std::floor((after - span_.start) / d * (1 + 4 * epsilon)) + 1;
    while (span_.start + k * d <= after) ++k;
    next = std::min(next, span_.start + k * d);
  }
  return next;
}

bool LocatedRun::is_asked(double t) const {
  return t == span_.end || t == span_.start ||
         std::binary_search(output_.times.begin(), output_.times.end(), t);
}

/// Reports the states that are asked for inside a step of length h: each the end of a step of its
/// own from the same start, so that it has the full order.
void LocatedRun::report_between(double h) {
  const Step start = now_;
  for (double t = next_output(start.t); t < start.t + h; t = next_output(t)) {
    if (radau_.attempt(t - start.t) != Radau::Outcome::solved) continue;
    now_ = state_at_attempt(t);
    if (sensitivities_.active()) differentiate_attempt(now_);
    record(true);
    now_ = start;
    if (result_.status != Status::never_run) return;
  }
}

/// Keeps and reports the present state.
void LocatedRun::record(bool requested) {
  if (output_.only_times && !requested) return;
  const bool first = result_.t.empty();
  if (output_.keep) result_.append(now_);
  if (output_.observer && !output_.observer(now_))
    finish(Status::interrupted, fmt::format("interrupted at t = {:.10g}", now_.t));
  if (!output_.keep && first) result_.append(now_);
}

/// The state before a discontinuity of this moment, as a row of its own.
void LocatedRun::record_also(const Step& before) {
  const Step after = now_;
  now_ = before;
  record(false);
  now_ = after;
}

void LocatedRun::finish(Status status, std::string message) {
  if (result_.status != Status::never_run) return;
  result_.status = status;
  result_.message = std::move(message);
  if (!output_.keep && !result_.t.empty() && now_.t > result_.t.back()) result_.append(now_);
  const Radau::Counts& counts = radau_.counts();
  result_.counts["steps"] = steps_;
  result_.counts["rejected"] = rejected_;
  result_.counts["newton_iterations"] = counts.iterations;
  result_.counts["factorisations"] = counts.factorisations;
}

Trajectory integrate(const Dcs& system, const Vector& x0, Span span, const Located& scheme,
                     const IntegrateOptions& options) {
  Trajectory run = LocatedRun(system, scheme, options)(x0, span);
  run.provenance["version"] = PERP_VERSION;
  run.provenance["scheme"] = "located";
  run.provenance["stages"] = fmt::format("{}", stages_for(scheme));
  run.provenance["tol"] = fmt::format("{}", scheme.tol);
  run.provenance["policy"] = scheme.policy == ContinuationPolicy::stay ? "stay" : "minimal_norm";
  run.provenance["norm"] = "||dF/dxdot xdot||_2";
  return run;
}

}  // namespace perp

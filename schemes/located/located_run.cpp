#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <perp/core/base/error.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/schemes/step_grid.hpp>
#include <perp/schemes/check_options.hpp>
#include <perp/schemes/events/events.hpp>
#include <perp/schemes/located/located_run.hpp>

namespace perp {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double most_rows = 0x1p53;      ///< of a run: integers beyond are no doubles
constexpr double smallest_share = 1e-14;  ///< of the time scale: no step is shorter

/// Measured on smooth problems: below, more stages mean fewer steps for the same work.
int stages_for(const Located& options) {
  if (options.stages != 0) return options.stages;
  if (options.tol >= 1e-6) return 3;
  return options.tol >= 1e-10 ? 5 : 7;
}

/// Factors that round nothing: the scale of a variable may be given as any number.
Vector powers_of_two(const Vector& scales) {
  return scales.unaryExpr([](double scale) { return std::exp2(std::ilogb(scale)); });
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
  if (options.scale.size() != 0 && !(options.scale.minCoeff() >= 0))
    throw InvalidInput("the scale of a variable must not be negative");
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
             {.rtol = options.tol, .atol = Vector::Constant(system.n(), options.tol)}),
      jets_(system_),
      first_jets_(system_, 1),
      evaluator_(system_),
      watch_(stages_),
      switches_(system_),
      sensitivities_(system_, options_.sensitivities, flow_, jets_),
      impact_(Impact::of(system_, options.restitution)),
      resets_(system_, evaluator_),
      bounds_(output.bounds, system_.n()),
      poles_(system_) {
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
  check_steps();
  set_scales(x0);
  switch_ = next_switch(span_.start);
  try {
    begin(x0);
    cover();
    if (result_.status == Status::never_run) pass_resets_at_end();
    if (result_.status == Status::never_run) pass_bounds_by_jump();
  } catch (const Interrupted&) {
    if (result_.t.empty()) throw;  // nothing is to be kept
    finish(Status::interrupted, fmt::format("interrupted at t = {:.10g}", now_.t));
  }
  if (result_.status == Status::never_run)
    finish(Status::solved,
           fmt::format("reached t = {:.10g} in {} steps{}", now_.t, steps_, no_sensitivities_));
  return std::move(result_);
}

/// Steps and distances of rows below an ulp of t would never end.
void LocatedRun::check_steps() const {
  for (const double step : {options_.fixed_step, options_.output_step})
    if (step > 0 && (step < smallest_h(span_) || !((span_.end - span_.start) / step < most_rows)))
      throw InvalidInput(
          fmt::format("h = {} is too small for the span [{}, {}]", step, span_.start, span_.end));
}

/// What "small" refers to in this run.
void LocatedRun::set_scales(const Vector& x0) {
  const Vector known =
      options_.scale.size() == 0 ? Vector(Vector::Zero(system_.n())) : options_.scale;
  scales_ = model_scales(system_, x0, span_, known);
  jets_.set_scales({scales_.time, scales_.x, scales_.lambda, scales_.fastest});
  first_jets_.set_scales(jets_.scales());
  radau_.set_tolerance({.rtol = options_.tol, .atol = options_.tol * scales_.x});
  radau_.set_units(powers_of_two(scales_.x), powers_of_two(scales_.lambda));
}

void LocatedRun::cover() {
  while (result_.status == Status::never_run && now_.t < span_.end) {
    check_interruption();
    if (steps_ + rejected_ >= options_.max_steps) {
      finish(Status::not_solved, fmt::format("stopped at t = {:.10g}: {} steps were not enough",
                                             now_.t, options_.max_steps));
      return;
    }
    pass_bounds_by_jump();
    if (result_.status != Status::never_run) return;
    if (is_high_index_)
      capture_the_rest(now_, "the index of the mode is not resolved");
    else if (limit() - now_.t < shortest_step() && switch_)
      switch_->after < span_.end ? pass_time_switch() : end_before_switch();
    else if (!pass_lost_gap())
      advance();
  }
}

double LocatedRun::shortest_step() const { return one_moment(smallest_share, scales_.time, now_.t); }

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
  if (options_.fixed_step == 0) h = to_output(h);
  if (!attempt(h)) return;
  if (options_.fixed_step == 0 && !algebraic_part_goes_on()) {
    radau_.discard();
    shorten(h / 2, "an algebraic variable or a multiplier jumps");
    return;
  }
  const std::optional<GapWatch::Fall> fall = first_fall(h);
  // A fall that is found where the gaps are not resolved need not be the first.
  if (options_.fixed_step == 0 && !samples_resolved() && h > 16 * shortest_step()) {
    ++rejected_;
    h_ = h / 2;
    return;
  }
  if (const auto pole = first_pole(h, fall ? fall->s : 1))
    go_nearer(*pole);
  else if (fall)
    pass_event(*fall, h);
  else
    take_step_on_branch(h);
}

/// Accepts the attempt of length h, in which no gap falls.
void LocatedRun::take_step(double h) {
  const double next = options_.fixed_step > 0 ? h : radau_.proposed_step();
  // Steps that were short because of an event or the end say nothing about the length wanted.
  h_ = h < h_ && options_.fixed_step == 0 ? std::max(next, std::min(h_, smooth_h_)) : next;
  smooth_h_ = h_;
  const double t_next = end_of(h);
  report_between(h);
  if (result_.status != Status::never_run) return;
  if (!accept(h, t_next)) return;
  watch_resets();
  zero_steps_ = 0;
  fired_here_.clear();
  watch_repulsion();
  record(is_asked(now_.t));
}

/// The stages of a step, to be accepted as they are. False: rejected, h_ is the next length.
bool LocatedRun::attempt(double h) {
  Radau::Outcome outcome = radau_.attempt(h);
  if (outcome == Radau::Outcome::solved && !has_value_at_end(h)) outcome = Radau::Outcome::domain;
  if (outcome == Radau::Outcome::solved && (options_.fixed_step > 0 || radau_.error() <= 1))
    return true;
  const double next =
      outcome == Radau::Outcome::solved ? std::min(radau_.proposed_step(), 0.9 * h) : h / 4;
  const bool ends = options_.fixed_step > 0 || next < shortest_step();
  if (ends && outcome == Radau::Outcome::domain) {
    if (const std::optional<Gap> gap = gap_at_end()) {
      ++rejected_;
      pass_edge(*gap);
      return false;
    }
  }
  shorten(options_.fixed_step > 0 ? 0 : next,
          outcome == Radau::Outcome::solved     ? "the tolerance is not met"
          : outcome == Radau::Outcome::diverged ? "Newton's method does not converge"
                                                : "the domain of the equations ends");
  return false;
}

/// The last correction of the stages may have left the domain of the equations.
bool LocatedRun::has_value_at_end(double h) {
  radau_.interpolate_derivative(1, ydot_);
  return flow_.evaluate(now_.t + h, ydot_, radau_.end(), y_);
}

/// The state at the end of the attempt. Algebraic unknowns come from the consistent jet: a stage
/// value of an index-2 multiplier is of order s only.
Step LocatedRun::state_at_attempt(double t) {
  Step state{t, Vector::Zero(system_.n()), Vector::Zero(system_.m()), Vector::Zero(system_.m()),
             now_.mode};
  flow_.scatter(radau_.end(), state.x, state.lambda);
  if (needs_jets_) {
    const Jet jet = jets_.solve(state.mode, t, state.x, state.lambda);
    if (jet.consistent && jet.determined && is_root_of_attempt(jet)) {
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
  if (!sensitivities_.step(radau_, S)) return without_sensitivities();
  if (!needs_jets_) {
    state.dx_dq = S;
    state.dlambda_dq = Matrix::Zero(system_.m(), S.cols());
    return S;
  }
  const Jet jet = jets_.solve(state.mode, state.t, state.x, state.lambda);
  if (!jet.consistent) {
    finish(Status::not_solved,
           fmt::format("stopped at {}: no Taylor series of the mode is found at the end of a step, "
                       "which the sensitivities need",
                       place(now_)));
    return S;
  }
  Sensitivities::Values values = sensitivities_.complete(jet, S);
  state.dx_dq = values.dx;
  state.dlambda_dq = std::move(values.dlambda);
  return std::move(values.dx);
}

/// Makes the end of the attempt of length h the present state.
/// False, and the run has ended, where that length cannot be solved.
bool LocatedRun::accept(double h, double t_next) {
  if (!radau_.has_attempted(h) && radau_.attempt(h) != Radau::Outcome::solved) {
    finish(Status::not_solved,
           fmt::format("stopped at {}: a step that was solved could not be solved again",
                       place(now_)));
    return false;
  }
  if (output_.course && h > 0) output_.course({now_.t, t_next, [&](double s) { return sample(s, h); }});
  moved_from_ = now_;
  now_ = state_at_attempt(t_next);
  largest_ = largest_.cwiseMax(now_.x.cwiseAbs());
  impacts_at_once_ = 0;
  if (sensitivities_.active()) sensitivities_.take(differentiate_attempt(now_));
  keep_rates();
  radau_.accept();
  ++steps_;
  return true;
}

/// The next time at which a state is asked for.
double LocatedRun::next_output(double after) const {
  const auto& times = output_.times;
  const auto asked = std::upper_bound(times.begin(), times.end(), after);
  double next = asked == times.end() ? inf : *asked;
  if (options_.output_step > 0 && !output_.only_times) {
    // A last one that is the end but for the rounding of the grid is the end: of a step of some ulps
    // multipliers of index 2 are noise.
    next = std::min(next, next_on_grid(span_, options_.output_step, after));
  }
  return next;
}

/// A step that would end just before or behind an output ends at it, or half-way to it: what would
/// be left could be too short to resolve, above all its multipliers of index 2, which are rounded
/// to eps/h.
double LocatedRun::to_output(double h) const {
  constexpr double little = 0x1p-9;  // of a step
  const double next = next_output(now_.t + (1 - little) * h) - now_.t;
  if (next < h) return next;
  return next > h && next < (1 + little) * h ? next / 2 : h;
}

/// t + h, to the bit the limit or the output that h was made for.
double LocatedRun::end_of(double h) const {
  const double next = next_output(now_.t + h / 2);
  if (h == limit() - now_.t) return limit();
  return h == next - now_.t ? next : now_.t + h;
}

bool LocatedRun::is_asked(double t) const {
  return t == span_.end || t == span_.start ||
         std::binary_search(output_.times.begin(), output_.times.end(), t);
}

/// Reports the states that are asked for inside a step of length h: each the end of a step of its
/// own from the same start, so that it has the full order.
void LocatedRun::report_between(double h) {
  if (!(next_output(now_.t) < now_.t + h)) return;
  const bool is_solved = radau_.has_attempted(h);
  if (is_solved) radau_.set_aside(whole_step_);
  const Step start = now_;
  for (double t = next_output(start.t); t < start.t + h; t = next_output(t)) {
    // Within the polynomial of the whole step it starts nearer than beyond that of a shorter one.
    const bool solved =
        radau_.attempt(t - start.t) == Radau::Outcome::solved ||
        (radau_.attempt(h) == Radau::Outcome::solved &&
         radau_.attempt(t - start.t) == Radau::Outcome::solved);
    if (!solved) {
      ++result_.counts["rows_not_solved"];
      continue;
    }
    now_ = state_at_attempt(t);
    if (sensitivities_.active()) differentiate_attempt(now_);
    record(true);
    now_ = start;
    if (result_.status != Status::never_run) return;
  }
  if (is_solved) radau_.take_back(whole_step_);
}

/// Keeps and reports the present state.
void LocatedRun::record(bool requested) {
  if (output_.only_times && !requested) return;
  const bool first = result_.t.empty();
  if (output_.keep || first) result_.append(now_);
  if (output_.observer && !output_.observer(now_))
    finish(Status::interrupted, fmt::format("interrupted at t = {:.10g}", now_.t));
}

/// The state before a discontinuity of this moment, as a row of its own.
void LocatedRun::record_also(const Step& before) {
  const Step after = now_;
  now_ = before;
  record(false);
  now_ = after;
}

std::string LocatedRun::place(const Step& state) const {
  if (system_.laws.empty()) return fmt::format("t = {:.10g} (step {})", state.t, steps_);
  return fmt::format("t = {:.10g} (step {}, mode [{}])", state.t, steps_,
                     describe(system_.laws, state.mode));
}

void LocatedRun::finish(Status status, std::string message) {
  if (result_.status != Status::never_run) return;
  log_end(status, now_.t, now_.x, message, result_.events);
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

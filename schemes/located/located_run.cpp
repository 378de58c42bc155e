// The loop of an event-located run: called by `integrate`, and for each solution of a tree.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include <perp/core/base/error.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/schemes/check_options.hpp>
#include <perp/schemes/located/located_run.hpp>

namespace perp {
namespace {

constexpr double most_rows = 0x1p53;  ///< of a run: integers beyond are no doubles
constexpr int most_at_once = 20;      ///< events of one moment

/// Why an attempt with this outcome is rejected.
const char* reason_of(Radau::Outcome outcome) {
  if (outcome == Radau::Outcome::solved) return "the tolerance is not met";
  return outcome == Radau::Outcome::diverged ? "Newton's method does not converge" : "the domain of the equations ends";
}

}  // namespace

Trajectory LocatedRun::operator()(const Vector& x0, Span span, std::vector<std::size_t> choices) {
  start(x0, span, std::move(choices));
  return take();
}

Trajectory LocatedRun::take() {
  while (is_running()) advance();
  return std::move(record_.result());
}

void LocatedRun::start(const Vector& x0, Span span, std::vector<std::size_t> choices) {
  check_start(x0, span);
  parts_.choice.start(std::move(choices));
  at_.span = span;
  set_scales(x0);
  times_.start();
  parts_.rest.keep_by([this] { return kept(); });
  if (!record_.output().state.from.empty()) return resume();
  guard([&] { transition_.begin(x0); });
}

/// From a state that was kept.
void LocatedRun::resume() {
  Archive archive(record_.output().state.from);
  transfer(archive);
  archive.expect_end();
  if (parts_.rest.was_under_way()) guard([&] { parts_.rest.go_on(); });
}

std::string LocatedRun::kept() {
  Archive archive;
  transfer(archive);
  return archive.bytes();
}

void LocatedRun::advance() {
  guard([&] {
    if (at_.now.t < at_.span.end) go_on();
    if (record_.is_open() && !(at_.now.t < at_.span.end)) conclude();
    const IntegrateOptions::KeptState& state = record_.output().state;
    if (record_.is_open() && state.due && state.due()) state.keep(kept());
  });
}

/// An interruption ends the run with what is computed.
template <class Piece>
void LocatedRun::guard(const Piece& piece) {
  try {
    piece();
  } catch (const Interrupted&) {
    if (record_.is_empty()) throw;  // nothing is to be kept
    record_.finish(Status::interrupted, fmt::format("interrupted at t = {:.10g}", at_.now.t));
  }
}

/// What happens at the end of the span.
void LocatedRun::conclude() {
  transition_.pass_resets_at_end();
  if (record_.is_open()) bounds_.pass_by_jump();
  if (record_.is_open())
    record_.finish(Status::solved, fmt::format("reached t = {:.10g} in {} steps{}", at_.now.t, record_.steps,
                                               parts_.sensitivity.why_none()));
}

/// Steps and distances of rows below an ulp of t would never end.
void LocatedRun::check_start(const Vector& x0, Span span) const {
  check_span(span, record_.output().times);
  if (x0.size() != at_.system.n())
    throw InvalidInput(fmt::format("x0 must have {} entries but has {}", at_.system.n(), x0.size()));
  if (!x0.allFinite()) throw InvalidInput("x0 must be finite");
  for (const double step : {at_.options.fixed_step, at_.options.output_step})
    if (step > 0 && (step < smallest_h(span) || !((span.end - span.start) / step < most_rows)))
      throw InvalidInput(fmt::format("h = {} is too small for the span [{}, {}]", step, span.start, span.end));
}

/// What "small" refers to in this run.
void LocatedRun::set_scales(const Vector& x0) {
  const Vector known =
      at_.options.scale.size() == 0 ? Vector(Vector::Zero(at_.system.n())) : at_.options.scale;
  at_.scales = model_scales(at_.system, parts_.jets.evaluator(), x0, at_.span, known);
  parts_.jets.set_scales();
  integrator_.set_scales();
}

/// One step, event or switch of time.
void LocatedRun::go_on() {
  check_interruption();
  if (record_.steps + record_.rejected >= at_.options.max_steps)
    return record_.finish(Status::not_solved, fmt::format("stopped at t = {:.10g}: {} steps were not enough",
                                                          at_.now.t, at_.options.max_steps));
  bounds_.pass_by_jump();
  if (!record_.is_open()) return;
  if (integrator_.is_high_index()) {
    parts_.rest.capture(at_.now, "the index of the mode is not resolved");
  } else if (times_.is_due()) {
    zero_steps_ = 0;
    times_.pass();
  } else if (!pass_lost_gap()) {
    go_through_mode();
  }
}

/// Of the next attempt: no sliver is left before the end, and it ends at what is asked for.
double LocatedRun::next_length() const {
  const double rest = times_.limit() - at_.now.t;
  double h = is_fixed() ? std::min(at_.options.fixed_step, rest)
                        : std::min({integrator_.length(), at_.options.max_step, rest});
  if (rest - h < at_.shortest_step()) h = rest;
  return is_fixed() ? h : to_output(h);
}

/// One accepted step, one event, or one rejected attempt.
void LocatedRun::go_through_mode() {
  const double h = next_length();
  if (!attempt(h)) return;
  if (has_algebraic_jump()) {
    integrator_.radau().discard();
    shorten(h / 2, "an algebraic variable or a multiplier jumps");
    return;
  }
  const std::optional<GapWatch::Fall> fall = parts_.locator.first_fall(h);
  if (!is_seen_through(h, fall)) {
    ++record_.rejected;
    integrator_.set_length(h / 2);
    return;
  }
  if (ends_at_touch(h, fall ? fall->s : 1)) return;
  // Where roots meet the formulas tell better than a chain of roots, which ends there.
  if (const auto pole = parts_.poles.first(h, fall ? fall->s : 1))
    go_nearer(*pole);
  else if (!integrator_.algebraic_part().roots().follow(integrator_.radau()))
    leave_root(h);
  else if (fall)
    pass_event(*fall, h);
  else
    take_step_on_branch(h);
}

/// The attempt of length h leads to another root of the equations.
void LocatedRun::leave_root(double h) {
  integrator_.radau().discard();
  shorten(is_fixed() ? 0 : h / 2, "a step leads to another root of the equations");
}

/// Is everything that happens in the attempt before this fall, if there is one, known? A fall that is found where the
/// gaps are not resolved need not be the first. Of fixed and very short steps it is not asked.
bool LocatedRun::is_seen_through(double h, const std::optional<GapWatch::Fall>& fall) {
  if (is_fixed() || !(h > 16 * at_.shortest_step())) return true;
  const double end = fall ? fall->s : 1;
  return parts_.locator.is_resolved() && !parts_.between.hide_something(h, end) && !parts_.pulses.hide_something(h, end);
}

/// Where derivatives ask what is beyond the end of a branch that the solution touches before this share of the attempt, the
/// next attempt ends there.
bool LocatedRun::ends_at_touch(double h, double end) {
  if (!parts_.sensitivity.active() || is_fixed()) return false;
  double first = 1 - SensitivityUpdate::touch_share;
  bool ends = false;
  for (const GapWatch::Dip& dip : parts_.locator.undecided_dips()) {
    if (!(dip.s < end)) continue;
    parts_.sensitivity.expect_touch(parts_.locator.gap(dip), at_.now.t + dip.s * h);
    ends = ends || dip.s < first;
    first = std::min(first, dip.s);
  }
  if (!ends || first * h < 16 * at_.shortest_step()) return false;
  integrator_.radau().discard();
  ++record_.rejected;
  integrator_.set_length(first * h);
  return true;
}

/// The stages of a step, to be accepted as they are. False: rejected, and the integrator has the next length.
bool LocatedRun::attempt(double h) {
  const Radau::Outcome outcome = integrator_.attempt(h);
  if (outcome == Radau::Outcome::solved && (is_fixed() || parts_.sensitivity.error_of_attempt() <= 1)) return true;
  reject(outcome, h);
  return false;
}

void LocatedRun::reject(Radau::Outcome outcome, double h) {
  const bool solved = outcome == Radau::Outcome::solved;
  const double next = solved ? std::min(integrator_.radau().proposed_step(), 0.9 * h) : h / 4;
  const bool ends = is_fixed() || next < at_.shortest_step();
  if (solved && ends && integrator_.radau().misses_variation()) return give_up_sensitivities(h);
  const std::optional<Gap> edge = ends && outcome == Radau::Outcome::domain ? parts_.rough.gap_at_end() : std::nullopt;
  if (!edge) return shorten(is_fixed() ? 0 : next, reason_of(outcome));
  ++record_.rejected;
  pass_edge(*edge);
}

/// The next attempt has this length; ends the run where that is too short.
void LocatedRun::shorten(double h, const std::string& why) {
  ++record_.rejected;
  integrator_.set_length(h);
  if (h < at_.shortest_step())
    record_.finish(Status::not_solved,
                   fmt::format("stopped at {}: {} however short the step{}", record_.place(at_.now), why,
                               integrator_.algebraic_part().why_it_ends()));
}

/// Accepts the attempt of length h, in which no gap falls.
void LocatedRun::take_step(double h) {
  const auto undecided = std::ssize(parts_.locator.undecided_dips());
  if (undecided > 0) record_.counts()["weak"] += undecided;
  integrator_.propose_length(h);
  const double t_next = end_of(h);
  if (!report_between(h) || !accept(h, t_next)) return;
  parts_.watch_resets();
  time_moves();
  parts_.choice.watch_repulsion();
  record_.row(at_.now, record_.is_asked(at_.now.t));
}

/// The same, unless its end is on another branch of the equations.
void LocatedRun::take_step_on_branch(double h) {
  if (is_fixed() || !parts_.poles.leaves_branch(h)) return take_step(h);
  integrator_.radau().discard();
  shorten(h / 2, "a step leads to another branch of the equations");
}

/// The next attempt ends half-way to the pole; ends the run where that is too short.
void LocatedRun::go_nearer(const PoleWatch::Pole& pole) {
  integrator_.radau().discard();
  ++record_.rejected;
  integrator_.set_length((pole.t - at_.now.t) / 2);
  if (integrator_.length() < at_.shortest_step() || is_fixed())
    record_.finish(Status::not_solved, fmt::format("stopped at {}: {}{}", record_.place(at_.now), pole.text,
                                                   integrator_.algebraic_part().why_it_ends()));
}

/// Makes the end of the attempt of length h the present state. False: that length cannot be solved, and the run has
/// ended, or its end is beyond that of the mode, which a shorter attempt is to find.
bool LocatedRun::accept(double h, double t_next) {
  if (!integrator_.reaches(h)) {
    record_.finish(Status::not_solved,
                   fmt::format("stopped at {}: a step that was solved could not be solved again",
                               record_.place(at_.now)));
    return false;
  }
  if (integrator_.algebraic_part().root_of_end(integrator_.radau()) == RootChain::Led::elsewhere) {
    leave_root(h);
    return false;
  }
  const Step end = integrator_.end_of_attempt(t_next);
  if (!is_fixed() && h > 16 * at_.shortest_step() && !parts_.locator.is_inside(end)) {
    integrator_.radau().discard();
    shorten(h / 2, "a state is beyond the end of its mode");
    return false;
  }
  if (record_.output().course && h > 0)
    record_.output().course({at_.now.t, t_next, [&](double s) { return integrator_.tell(s, h); }});
  at_.moved_from = at_.now;
  at_.now = end;
  at_.largest = at_.largest.cwiseMax(at_.now.x.cwiseAbs());
  transition_.has_moved();
  parts_.sensitivity.step();
  integrator_.accept();
  ++record_.steps;
  return true;
}

/// Events from here on are of another moment.
void LocatedRun::time_moves() {
  zero_steps_ = 0;
  parts_.sides.forget_fired();
}

/// A step that would end just before or behind an output ends at it, or half-way to it: what would
/// be left could be too short to resolve, above all its multipliers of index 2, which are rounded
/// to eps/h.
double LocatedRun::to_output(double h) const {
  constexpr double little = 0x1p-9;  // of a step
  const double next = record_.next_output(at_.now.t + (1 - little) * h) - at_.now.t;
  if (next < h) return next;
  return next > h && next < (1 + little) * h ? next / 2 : h;
}

/// t + h, to the bit the limit or the output that h was made for.
double LocatedRun::end_of(double h) const {
  const double next = record_.next_output(at_.now.t + h / 2), limit = times_.limit();
  if (h == limit - at_.now.t) return limit;
  return h == next - at_.now.t ? next : at_.now.t + h;
}

/// Goes to the fall of a gap and on from there in the mode that follows.
void LocatedRun::pass_event(const GapWatch::Fall& fall, double h) {
  const std::optional<double> length = parts_.locator.length_to(fall, h);
  if (!length && is_fixed()) return take_step(h);  // only the polynomial of a long step fell
  if (!length) return shorten(h / 2, "the end of a mode is not located");
  if (!go_to(*length, h, parts_.locator.gap(fall))) return;
  const Step before = at_.now;
  const Gap gap = parts_.locator.gap(fall);
  if (gap.surface >= 0) return bounds_.pass(gap);
  transition_.at_corner(gap, before);
  if (transition_.pass_resets(gap, before)) return;
  parts_.watch_resets();
  const std::vector<int> hit = at_.laws_hit();
  transition_.go_on(before, transition_.asked(hit, at_.undecided_laws(before, hit)), hit, ModeTransition::JumpOfX::none);
}

/// To the event at the end of this length of an attempt of length h. False: it is not to be passed.
bool LocatedRun::go_to(double length, double h, const Gap& gap) {
  double t_event = at_.now.t + length;
  // A time that is asked for and the event are one moment where rounding cannot tell them apart.
  const double moment = EventLocator::moment(h, t_event);
  const double nearest = record_.next_output(t_event - moment);
  if (length > 0 && std::abs(nearest - t_event) <= moment) {
    t_event = nearest;
    length = nearest - at_.now.t;
  }
  return t_event > at_.now.t ? move_to(t_event, length, h) : may_happen_now(gap);
}

bool LocatedRun::move_to(double t_event, double length, double h) {
  time_moves();
  if (!integrator_.reaches(length)) {
    shorten(h / 2, "Newton's method does not converge");
    return false;
  }
  if (!report_between(length)) return false;
  if (!parts_.sides.watch().empty()) parts_.sides.follow(parts_.locator.points(), length);
  return accept(length, t_event);
}

/// Time does not move. False, and the run has ended or another scheme goes on: events follow each other without
/// end, or a reset that has fired fires once more, before t could tell the way in between.
bool LocatedRun::may_happen_now(const Gap& gap) {
  const std::vector<int>& fired = parts_.sides.fired_here();
  const bool fires_again = std::find(fired.begin(), fired.end(), gap.reset) != fired.end();
  if (fires_again || (++zero_steps_ > most_at_once && !fired.empty())) {
    record_.finish(Status::not_solved,
                   fmt::format("stopped at t = {:.10g} (step {}): resets follow each other without end at "
                               "this moment: {}",
                               at_.now.t, record_.steps, parts_.sides.watch().names(fired)));
    return false;
  }
  if (zero_steps_ <= most_at_once) return true;
  parts_.rest.capture(at_.now, "events follow each other without end at this moment");
  return false;
}

/// Goes on to the end of a gap that steps no longer see. False: there is none.
bool LocatedRun::pass_lost_gap() {
  const std::optional<RoughEnds::Lost> lost = parts_.rough.lost_gap(times_.limit());
  if (!lost) return false;
  const double end = at_.now.t + lost->time;
  for (double t = record_.next_output(at_.now.t); t < end; t = record_.next_output(t)) {
    at_.now.t = t;  // asked for meanwhile
    record_.row(at_.now, true);
  }
  at_.now.t = end;
  pass_edge(lost->gap);
  return true;
}

/// Passes the end of a mode that steps come as near as they can, but not beyond: the domain of its
/// equations ends there.
void LocatedRun::pass_edge(const Gap& gap) {
  parts_.rough.move_to(gap);
  const Step before = at_.now;
  transition_.at_corner(gap, before);
  transition_.go_on_from_edge(before);
}

Trajectory integrate(const Dcs& system, const Vector& x0, Span span, const Located& scheme,
                     const IntegrateOptions& options) {
  Trajectory run = LocatedRun(system, scheme, options)(x0, span);
  tell_scheme(scheme, run);
  return run;
}

}  // namespace perp

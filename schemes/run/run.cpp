// The run loop of the schemes that step through events: called by every `integrate` but that of `located`.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include <perp/core/base/interruption.hpp>
#include <perp/core/branches.hpp>
#include <perp/schemes/check_options.hpp>
#include <perp/schemes/events/consistent_start.hpp>
#include <perp/schemes/events/events.hpp>
#include <perp/schemes/run/event_run.hpp>
#include <perp/schemes/run/run.hpp>

namespace perp {
namespace {

constexpr int shortest_way = -30;  ///< h·2^k between two firings of a reset

}  // namespace

void EventRun::put_state(Step& room) {
  room.t = scheme_.t();
  room.x = scheme_.x();
  room.lambda = scheme_.lambda();
  room.w = scheme_.w();
  room.mode = scheme_.mode();
}

bool EventRun::is_calm() {
  return !scheme_.passes_jumps() &&
         changes_.poles->is_calm(before_.mode,
                                 {before_.t, scheme_.t(), before_.x, scheme_.x(), before_.lambda, scheme_.lambda()});
}

bool EventRun::advance_in_pieces(double t_next, double h, std::optional<Attempt> first, bool is_made) {
  double to = t_next;
  Firings firings(scheme_.t());
  if (is_made) failure_.reset(), is_passage_ = false, began_ = before_.t;
  passage_.begin_pieces(t_next - (is_made ? before_.t : scheme_.t()));
  for (;;) {
    check_interruption();
    const std::size_t logged = record_.events().size();
    if (!std::exchange(is_made, false)) {
      began_ = scheme_.t();
      const double length = began_ == from_ && to == t_next ? h : to - began_;
      if (needs_start()) put_state(before_);
      take_piece(first ? *std::exchange(first, {}) : scheme_.attempt(to, length), to, length);
    }
    if (const std::optional<bool> goes_on = end_piece(before_, to, t_next, logged, firings)) return *goes_on;
  }
}

std::optional<bool> EventRun::end_piece(const Step& from, double& to, double t_next, std::size_t logged, Firings& firings) {
  if (const std::optional<PoleWatch::Pole> pole = pole_since(from, to)) {
    if (!goes_nearer(*pole, from, to)) return false;
    return std::nullopt;
  }
  std::vector<Event> jumps;
  const Scheme::ResetOutcome outcome = scheme_.reset(jumps, steps_of_end());
  if (outcome.kind == Scheme::ResetOutcome::Kind::too_long) {
    if (!halve(began_, to)) return resets_accumulate(outcome.names);
    return std::nullopt;
  }
  const bool has_reset = outcome.kind == Scheme::ResetOutcome::Kind::applied;
  if (outcome.kind == Scheme::ResetOutcome::Kind::no_value)
    failure_ = {{Status::not_solved, {}, no_value_text(outcome.names)}, h_};
  log_piece(outcome, has_reset, std::move(jumps), t_next);
  if (ends_in_piece(from, logged, has_reset)) return false;
  if (has_reset && firings.accumulate_at(scheme_.t())) return resets_accumulate(outcome.names);
  if (scheme_.t() >= t_next) return true;
  to = t_next;
  return std::nullopt;
}

void EventRun::take_piece(const Attempt& attempt, double to, double length) {
  failure_.reset();
  is_passage_ = !keeps_mode(attempt);
  if (is_passage_) failure_ = passage_.pass(attempt, to, length, steps_);
}

std::optional<PoleWatch::Pole> EventRun::pole_since(const Step& from, double end) {
  if (changes_.poles == nullptr) return std::nullopt;
  PoleWatch& poles = *changes_.poles;
  if (failure_ || (is_passage_ && !passage_.path().empty()))
    if (auto pole = poles.pass_path(from, passage_.path(), failure_ ? end : scheme_.t())) return pole;
  if (auto pole = events_.pole_on_way(poles, from, scheme_.snapshot())) return pole;
  return scheme_.passes_jumps() ? std::nullopt : poles.singular_end({from, scheme_.snapshot()});
}

bool EventRun::goes_nearer(const PoleWatch::Pole& pole, const Step& from, double& to) {
  events_.drop_all();
  failure_.reset();
  scheme_.restore(from);
  const double half = (std::min(pole.t, to) - from.t) / 2;
  const double last = std::exchange(to, from.t + half);
  if (half > std::ldexp(h_, -changes_.refinements) && to > from.t && to < last) return true;
  fail({{Status::not_solved, {}, pole.text}, h_});
  return false;
}

bool EventRun::halve(double start, double& to) {
  events_.drop_way();
  const double last = std::exchange(to, start + (to - start) / 2);
  return to - start > std::ldexp(h_, shortest_way) && to > start && to < last;
}

/// The modes of a passage in short steps are shorter than the step.
void EventRun::tell_path() {
  if (!options_.course || !is_passage_) return;
  for (const Step& state : passage_.path())
    if (state.t < scheme_.t()) record_.pass(state);
}

void EventRun::log_piece(const Scheme::ResetOutcome& outcome, bool has_reset, std::vector<Event> jumps, double t_next) {
  tell_path();
  if (outcome.kind != Scheme::ResetOutcome::Kind::none) events_.drop(outcome);
  if (has_reset) ++record_.counts()["resets"], ++steps_;
  events_.write(record_.events());
  std::ranges::move(jumps, std::back_inserter(record_.events()));
  if (!has_reset && scheme_.t() >= t_next) return;
  if (has_reset && !record_.reset(outcome.before, scheme_.t() >= t_next)) finish(Status::interrupted, interrupted_text(time()));
  pass_end_of_mode();
}

void EventRun::pass_end_of_mode() {
  if (options_.course) record_.pass(scheme_.seen());
  trace();
}

bool EventRun::ends_in_piece(const Step& from, std::size_t logged, bool has_reset) {
  if (!record_.is_open()) return true;
  if (const auto passed = bounds_.pass(scheme_, from, logged, steps_, record_.events())) {
    if (scheme_.t() > from_) keep(true);  // there the last row stands
    finish(Status::interrupted, *passed);
  } else if (!has_reset && failure_) {
    fail(*failure_);
  }
  return !record_.is_open();
}

void EventRun::start() {
  if (!options_.state.from.empty()) {
    Archive kept(options_.state.from);
    record_.let_jump(scheme_, static_cast<int>(x0_.size()), static_cast<int>(laws_.size()));
    transfer(kept);
    return kept.expect_end();
  }
  const Attempt start = consistent_start(scheme_, start_, x0_, h_, record_.events());
  if (start.status == Status::solved)
    begin();
  else
    refuse(start);
}

std::optional<StepwiseRun::Offer> EventRun::offer() {
  if (!record_.is_open() || record_.takes_steps() || trace_ != nullptr || is_watched_) return std::nullopt;
  const UniformSteps steps = switch_.before(grid_.before_asked());
  if (steps.last < steps.first) return std::nullopt;
  return Offer{&scheme_, is_watched() ? changes_.poles : nullptr, steps};
}

void EventRun::leap(long steps) {
  if (steps == 0) return;
  grid_.leap(steps);
  steps_ += steps;
  tell_moment();
}

bool EventRun::advance_through_switches(double t_next, double h) {
  while (switch_.is_before(t_next)) {
    const auto [stop, moment] = *switch_;
    const bool is_end = moment + (moment - stop) >= t_next;
    const double start = scheme_.t(), length = start == from_ && is_end ? h : stop - start;
    if (stop > start && !go_to(stop, length)) return false;
    passage_.pass_switch(moment);
    if (moment < end_ && passage_.pass_data(moment))
      trace(true);
    else if (!is_end)
      pass_end_of_mode();
    switch_.find(moment);
    if (!is_end) continue;
    stands_ = {scheme_.t(), t_next};
    return true;
  }
  return go_to(t_next, t_next - scheme_.t());
}

void EventRun::refuse(const Attempt& start) {
  has_started_ = false;
  record_.keep(state());
  const std::string message = scheme_.message();  // what follows may replace it
  RunEnd at = here(start.status, h_);
  at.t = start_;
  const std::string why = refused_start_text(at, message);
  if (ends_in_refused_start(record_.events()))
    finish(start.status, why);  // the log says so already
  else
    end(EventKind::no_solution, start.status, why, message);
}

bool EventRun::resets_accumulate(const std::string& names) {
  if (!keep(true)) return false;
  end(EventKind::accumulation, Status::not_solved,
      accumulation_text(here(Status::not_solved, h_), names),
      fmt::format("resets accumulate: {}; a contact law passes such a point", names));
  return false;
}

void EventRun::fail(const ModePassage::Failure& failure) {
  const Refinement& refinement = failure.refinement;
  if (scheme_.t() > from_) keep(true);
  const bool ends = refinement.status == Status::no_solution;
  const RunEnd at = here(refinement.status, failure.h);
  const bool lists = !at.residuals.empty();
  const std::string why = lists ? "residuals of the modes: " + at.residuals : refinement.message;
  end(EventKind::no_solution, refinement.status, stopped_text(at, ends, why),
      ends ? fmt::format("no solution continues; for a step of {:g}: {}", failure.h, why) : why);
}

RunEnd EventRun::here(Status status, double h) {
  const bool has_mode = !laws_.empty() && scheme_.mode().size() == laws_.size();
  return {scheme_.t(), steps_, has_mode ? describe_briefly(laws_, scheme_.mode()) : "",
          status == Status::no_solution ? modes_text(laws_, scheme_.violations(h)) : ""};
}

void EventRun::end(EventKind kind, Status status, std::string message, std::string note) {
  if (kind != EventKind::no_solution || status == Status::no_solution)  // else for another reason
    record_.events().push_back(event_at(kind, scheme_.t(), scheme_.x(), std::move(note)));
  finish(status, std::move(message));
}

std::unique_ptr<StepwiseRun> stepwise_run(Scheme& scheme, const std::vector<Law>& laws, const Vector& x0,
                                          Span span, double h, const ModeChanges& changes,
                                          const IntegrateOptions& options, StateTrace* trace) {
  check_steps(span, h, options.times);
  return std::make_unique<EventRun>(scheme, laws, changes, options, x0, span, std::min(h, span.end - span.start), trace);
}

Trajectory run(Scheme& scheme, const std::vector<Law>& laws, const Vector& x0, Span span, double h,
               const ModeChanges& changes, const IntegrateOptions& options) {
  const std::unique_ptr<StepwiseRun> whole = stepwise_run(scheme, laws, x0, span, h, changes, options);
  whole->start();
  return whole->take();
}

Trajectory resume(Scheme& scheme, const std::vector<Law>& laws, const Step& from, double end,
                  double h, const ModeChanges& changes, const IntegrateOptions& options) {
  const Span span{from.t, end};
  check_steps(span, h, options.times);
  EventRun rest(scheme, laws, changes, options, from.x, span, std::min(h, end - from.t));
  rest.start_from(from);
  return rest.take();
}

}  // namespace perp

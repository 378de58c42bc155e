// The run loop of the schemes that step through events: called by every `integrate` but that of `located`.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include <perp/core/base/interruption.hpp>
#include <perp/schemes/check_options.hpp>
#include <perp/schemes/events/bound_watch.hpp>
#include <perp/schemes/events/consistent_start.hpp>
#include <perp/schemes/events/event_log.hpp>
#include <perp/schemes/events/events.hpp>
#include <perp/schemes/run/next_switch.hpp>
#include <perp/schemes/run/recorder.hpp>
#include <perp/schemes/run/run.hpp>
#include <perp/schemes/run/run_end.hpp>

namespace perp {
namespace {

constexpr int most_resets = 100;   ///< within one step
constexpr int shortest_way = -30;  ///< h·2^k between two firings of a reset
constexpr long most_at_once = 100'000;  ///< steps before somebody is asked whether to go on, or to keep the state

/// One run: the loop over the steps, and over the pieces of a step that is not one in its mode.
class Run final : public StepwiseRun {
 public:
  Run(Scheme& scheme, const std::vector<Law>& laws, const ModeChanges& changes,
      const IntegrateOptions& options, const Vector& x0, Span span, double h, StateTrace* trace = nullptr)
      : scheme_(scheme), laws_(laws), changes_(changes), options_(options), record_(options), events_(laws),
        passage_(scheme, laws, changes_, events_, record_),
        bounds_(options.bounds, static_cast<int>(x0.size())),
        is_watched_(!bounds_.empty() || scheme.has_resets()),
        x0_(x0),
        h_(h),
        start_(span.start),
        end_(span.end),
        switch_(changes_, span.end, h),
        grid_(span, h, options.times),
        trace_(trace) {}

  void start() override {
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

  /// From a state of the scheme that was current before.
  void start_from(const Step& state) {
    scheme_.restore(state);
    begin();
  }

  /// By the steps that leave no row, and the next one.
  void advance() override {
    guarded([this] {
      check_interruption();
      grid_.leap(stay(grid_.before_asked()));
      const StepGrid::Step step = grid_.step();
      if (make_step(step.to, step.length) && keep(step.is_asked)) grid_.advance();
      trace();
    });
    if (record_.is_open() && grid_.is_done())
      finish(Status::solved, fmt::format("reached t = {:.10g} in {} steps", time(), steps_));
    if (record_.is_open() && options_.state.due && options_.state.due()) guarded([this] { options_.state.keep(kept()); });
  }

  [[nodiscard]] const Trajectory& result() const override { return record_.result(); }
  [[nodiscard]] bool has_started() const override { return has_started_; }
  [[nodiscard]] double t() const override { return time(); }
  [[nodiscard]] Step state() override {
    if (!has_started_) return {start_, x0_, scheme_.lambda(), scheme_.w(), {}};
    Step now = scheme_.seen();
    now.t = time();
    return now;
  }

  [[nodiscard]] std::optional<Offer> offer() override {
    if (!record_.is_open() || record_.takes_steps() || trace_ != nullptr || is_watched_) return std::nullopt;
    const UniformSteps steps = switch_.before(grid_.before_asked());
    if (steps.last < steps.first) return std::nullopt;
    return Offer{&scheme_, is_watched() ? changes_.poles : nullptr, steps};
  }
  void leap(long steps) override {
    if (steps == 0) return;
    grid_.leap(steps);
    steps_ += steps;
    tell_moment();
  }

  [[nodiscard]] std::string kept() override {
    Archive archive;
    transfer(archive);
    return archive.bytes();
  }

  Trajectory take() override {
    while (record_.is_open()) advance();
    return record_.take();
  }

 private:
  /// All that the next steps depend on.
  void transfer(Archive& archive) {
    archive(scheme_, record_, events_, passage_, bounds_, last_kept_, switch_, stands_, has_started_, grid_, steps_);
    if (changes_.poles != nullptr) archive(*changes_.poles);
  }

  /// From the present state of the scheme.
  void begin() {
    record_.let_jump(scheme_, static_cast<int>(x0_.size()), static_cast<int>(laws_.size()));
    passage_.begin(h_);
    switch_.find(start_);
    const std::optional<std::string> outside = bounds_.start(scheme_, record_.events());
    guarded([this] { tell_moment() && keep_state(true); });
    trace();
    if (outside) finish(Status::interrupted, *outside);
  }

  /// Where it is interrupted within a step the last state that was kept is the end.
  template <class Work>
  void guarded(const Work& work) {
    try {
      work();
    } catch (const Interrupted&) {
      scheme_.restore(last_kept_);
      finish(Status::interrupted, interrupted_text(time()));
    }
  }

  /// Steps in the present mode that leave no row and that nobody looks into.
  long stay(const UniformSteps& steps) {
    if (record_.takes_steps() || trace_ != nullptr || is_watched()) return 0;
    UniformSteps until = switch_.before(steps);
    until.last = std::min(until.last, until.first + most_at_once);
    const long taken = until.last < until.first ? 0 : scheme_.stay(until);
    steps_ += taken;
    return taken;
  }

  /// Is there anything to look for within the next step?
  [[nodiscard]] bool is_watched() const {
    return is_watched_ || (changes_.poles != nullptr && changes_.poles->watches(scheme_.mode()));
  }

  /// To t_next by one step, or several where modes change or resets happen. False: the run ends.
  bool make_step(double t_next, double h) {
    from_ = scheme_.t(), ++steps_;
    passage_.begin_step(from_);
    switch_.find_until(t_next, h, from_);
    return switch_.is_before(t_next) ? advance_through_switches(t_next, h) : go_to(t_next, h);
  }

  /// A step ends where functions of time switch, or just before to show their sign; at its own end, in the mode before.
  bool advance_through_switches(double t_next, double h) {
    while (switch_.is_before(t_next)) {
      const auto [stop, moment] = *switch_;
      const bool is_end = moment + (moment - stop) >= t_next;
      const double start = scheme_.t(), length = start == from_ && is_end ? h : stop - start;
      if (stop > start && !go_to(stop, length)) return false;
      passage_.pass_switch(moment);
      if (moment < end_ && passage_.pass_data(moment)) trace(true);
      switch_.find(moment);
      if (!is_end) continue;
      stands_ = {scheme_.t(), t_next};
      return true;
    }
    return go_to(t_next, t_next - scheme_.t());
  }

  /// The time of the present state, on the grid where a switch stopped the scheme short of it by rounding.
  [[nodiscard]] double time() const { return scheme_.t() == stands_.at ? stands_.for_time : scheme_.t(); }

  bool go_to(double t_next, double h) {
    if (is_watched_) return advance_in_pieces(t_next, h, {});
    const bool has_poles = is_watched();
    if (has_poles) keep_before();
    const Attempt attempt = scheme_.attempt(t_next, h);
    if (!keeps_mode(attempt)) return advance_in_pieces(t_next, h, attempt);
    return !has_poles || is_calm() || advance_in_pieces(t_next, h, {}, true);
  }

  /// The present state, in the room of the last one.
  void keep_before() {
    before_.t = scheme_.t();
    before_.x = scheme_.x();
    before_.lambda = scheme_.lambda();
    before_.w = scheme_.w();
    before_.mode = scheme_.mode();
  }

  /// Did the step from `before_` to the present state, in one mode, pass nothing that is to be looked for?
  bool is_calm() {
    return !scheme_.passes_jumps() &&
           changes_.poles->is_calm(before_.mode,
                                   {before_.t, scheme_.t(), before_.x, scheme_.x(), before_.lambda, scheme_.lambda()});
  }

  /// The same of a step that may end before t_next; `first`: the attempt at it, if one was made. `is_made`: it was
  /// accepted in the mode of `before_`, where it began.
  bool advance_in_pieces(double t_next, double h, std::optional<Attempt> first, bool is_made = false) {
    double to = t_next;
    for (int resets = 0;;) {
      check_interruption();
      const std::size_t logged = record_.events().size();
      const bool needs_start = !bounds_.empty() || changes_.poles != nullptr;
      const Step from = is_made ? before_ : needs_start ? scheme_.snapshot() : Step{};
      const double start = is_made ? from.t : scheme_.t(), length = start == from_ && to == t_next ? h : to - start;
      if (std::exchange(is_made, false))
        failure_.reset(), is_passage_ = false;
      else
        take_piece(first ? *std::exchange(first, {}) : scheme_.attempt(to, length), to, length);
      if (const std::optional<PoleWatch::Pole> pole = pole_since(from, to)) {
        if (!goes_nearer(*pole, from, to)) return false;
        continue;
      }
      std::vector<Event> jumps;
      const Scheme::ResetOutcome outcome = scheme_.reset(jumps);
      if (outcome.kind == Scheme::ResetOutcome::Kind::too_long) {
        if (!halve(start, to)) return resets_accumulate(outcome.names);
        continue;
      }
      const bool has_reset = outcome.kind == Scheme::ResetOutcome::Kind::applied;
      if (outcome.kind == Scheme::ResetOutcome::Kind::no_value)
        failure_ = {{Status::not_solved, {}, no_value_text(outcome.names)}, h_, start};
      log_piece(outcome, has_reset, std::move(jumps), t_next);
      if (ends_in_piece(from, logged, has_reset)) return false;
      if (has_reset && ++resets == most_resets) return resets_accumulate(outcome.names);
      if (scheme_.t() >= t_next) return true;
      to = t_next;
    }
  }

  /// A step of this length to `to`, or a shorter one to the end of a mode. `failure_`: there is none.
  void take_piece(const Attempt& attempt, double to, double length) {
    failure_.reset();
    is_passage_ = !keeps_mode(attempt);
    if (is_passage_) failure_ = passage_.pass(attempt, to, length, steps_);
  }

  /// Accepts the attempted step if it is solved in the present mode.
  bool keeps_mode(const Attempt& attempt) {
    if (attempt.status != Status::solved || !attempt.kept_mode) return false;
    record_.count(attempt);
    scheme_.accept();
    return true;
  }

  /// The first pole of the equations on the way since `from` to `end`, on which jumps are no motion.
  std::optional<PoleWatch::Pole> pole_since(const Step& from, double end) {
    if (changes_.poles == nullptr) return std::nullopt;
    PoleWatch& poles = *changes_.poles;
    if (failure_ || (is_passage_ && !passage_.path().empty()))
      if (auto pole = poles.pass_path(from, passage_.path(), failure_ ? end : scheme_.t())) return pole;
    if (auto pole = events_.pole_on_way(poles, from, scheme_.snapshot())) return pole;
    return scheme_.passes_jumps() ? std::nullopt : poles.singular_end({from, scheme_.snapshot()});
  }

  /// Back to `from`, and half-way to the pole with a step that ends at `to`. False: the run ends, as near as steps get.
  bool goes_nearer(const PoleWatch::Pole& pole, const Step& from, double& to) {
    events_.drop_all();
    failure_.reset();
    scheme_.restore(from);
    const double half = (std::min(pole.t, to) - from.t) / 2;
    const double last = std::exchange(to, from.t + half);
    if (half > std::ldexp(h_, -changes_.refinements) && to > from.t && to < last) return true;
    fail({{Status::not_solved, {}, pole.text}, h_, from_});
    return false;
  }

  /// A reset fired more than once: half the way from `start`. False: no way is shorter.
  bool halve(double start, double& to) {
    events_.drop_all();
    const double last = std::exchange(to, start + (to - start) / 2);
    return to - start > std::ldexp(h_, shortest_way) && to > start && to < last;
  }

  /// A piece's events, without what its resets made void, jumps and course. Both sides of a reset at its end are rows.
  void log_piece(const Scheme::ResetOutcome& outcome, bool has_reset, std::vector<Event> jumps, double t_next) {
    if (outcome.kind != Scheme::ResetOutcome::Kind::none) events_.drop(outcome);
    if (has_reset) ++record_.counts()["resets"], ++steps_;
    events_.write(record_.events());
    std::ranges::move(jumps, std::back_inserter(record_.events()));
    if (!has_reset && scheme_.t() >= t_next) return;
    if (has_reset && !record_.reset(outcome.before, scheme_.t() >= t_next)) finish(Status::interrupted, interrupted_text(time()));
    if (options_.course) record_.pass(scheme_.seen());  // a mode ends there
    trace();
  }

  /// `jumps`: data jump here, and with them what has no rate.
  void trace(bool jumps = false) {
    if (trace_ == nullptr) return;
    trace_->add(time(), scheme_.x(), scheme_.mode(), record_.jumping());
    if (jumps) trace_->jump(record_.jumping());
  }

  /// Does the run end in the piece from `from`, at a bound or since no step goes on?
  bool ends_in_piece(const Step& from, std::size_t logged, bool has_reset) {
    if (!record_.is_open()) return true;
    if (const auto passed = bounds_.pass(scheme_, from, logged, steps_, record_.events())) {
      if (scheme_.t() > from_) keep(true);  // there the last row stands
      finish(Status::interrupted, *passed);
    } else if (!has_reset && failure_) {
      fail(*failure_);
    }
    return !record_.is_open();
  }

  /// A start that cannot be made.
  void refuse(const Attempt& start) {
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

  /// Resets that follow each other without end within one step: the run ends. False.
  bool resets_accumulate(const std::string& names) {
    if (!keep(true)) return false;
    end(EventKind::accumulation, Status::not_solved,
        accumulation_text(here(Status::not_solved, h_), names),
        fmt::format("resets accumulate: {}; a contact law passes such a point", names));
    return false;
  }

  /// Keeps the state where the solution ends and says why.
  void fail(const ModePassage::Failure& failure) {
    const Refinement& refinement = failure.refinement;
    if (scheme_.t() > failure.t_before) keep(true);
    const bool ends = refinement.status == Status::no_solution;
    const RunEnd at = here(refinement.status, failure.h);
    const bool lists = !at.residuals.empty();
    const std::string why = lists ? "residuals of the modes: " + at.residuals : refinement.message;
    end(EventKind::no_solution, refinement.status, stopped_text(at, ends, why),
        ends ? fmt::format("no solution continues; for a step of {:g}: {}", failure.h, why) : why);
  }

  /// Where no step of length h follows; if for want of a solution, by how much each mode misses one.
  RunEnd here(Status status, double h) {
    const bool has_mode = !laws_.empty() && scheme_.mode().size() == laws_.size();
    return {scheme_.t(), steps_, has_mode ? describe(laws_, scheme_.mode()) : "",
            status == Status::no_solution ? modes_text(laws_, scheme_.violations(h)) : ""};
  }

  /// The run ends here, and the log says so.
  void end(EventKind kind, Status status, std::string message, std::string note) {
    if (kind != EventKind::no_solution || status == Status::no_solution)  // else for another reason
      record_.events().push_back(event_at(kind, scheme_.t(), scheme_.x(), std::move(note)));
    finish(status, std::move(message));
  }

  void finish(Status status, std::string message) {
    record_.finish(status, std::move(message), scheme_.t(), scheme_.x());
    if (record_.lacks_end(time())) record_.keep(state());
    record_.counts()["steps"] = steps_;
    scheme_.count(record_.counts());
  }

  /// Keeps and reports the current state, if rows are wanted. False: the run has ended.
  bool keep(bool is_asked) { return tell_moment() && (!record_.takes_rows() || keep_state(is_asked)); }
  /// False: whoever is told asks to stop.
  bool tell_moment() {
    if (!options_.moments || options_.moments(time(), scheme_.mode())) return true;
    finish(Status::interrupted, interrupted_text(time()));
    return false;
  }
  bool keep_state(bool is_asked) {
    if (options_.only_times && !is_asked) {
      if (options_.course) record_.pass(state());
      return true;
    }
    last_kept_ = state();
    if (record_.row(last_kept_)) return true;
    finish(Status::interrupted, interrupted_text(time()));
    return false;
  }

  Scheme& scheme_;
  const std::vector<Law>& laws_;
  ModeChanges changes_;
  const IntegrateOptions& options_;
  Recorder record_;
  EventLog events_;
  ModePassage passage_;
  BoundedWay bounds_;
  bool is_watched_;  // there are bounds or resets to look for within each step
  std::optional<ModePassage::Failure> failure_;  // of the piece being made
  bool is_passage_ = false;                      // does it leave its mode?
  Step last_kept_;
  Step before_;                                  // the present step, where poles are watched
  struct { double at = nan, for_time = nan; } stands_;  // where a step on the grid was stopped before a switch
  Vector x0_;
  bool has_started_ = true;  // false: the start could not be made
  double h_;             // the user's step length
  double start_, end_;   // of the span
  NextSwitch switch_;
  StepGrid grid_;
  StateTrace* trace_;
  double from_ = 0;  // where the present step of that length began
  long steps_ = 0;
};

}  // namespace

std::unique_ptr<StepwiseRun> stepwise_run(Scheme& scheme, const std::vector<Law>& laws, const Vector& x0,
                                          Span span, double h, const ModeChanges& changes,
                                          const IntegrateOptions& options, StateTrace* trace) {
  check_steps(span, h, options.times);
  return std::make_unique<Run>(scheme, laws, changes, options, x0, span, std::min(h, span.end - span.start), trace);
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
  Run rest(scheme, laws, changes, options, from.x, span, std::min(h, end - from.t));
  rest.start_from(from);
  return rest.take();
}

}  // namespace perp

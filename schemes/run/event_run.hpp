#pragma once

#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <perp/core/base/interruption.hpp>
#include <perp/schemes/events/bound_watch.hpp>
#include <perp/schemes/events/event_log.hpp>
#include <perp/schemes/events/firings.hpp>
#include <perp/schemes/run/next_switch.hpp>
#include <perp/schemes/run/recorder.hpp>
#include <perp/schemes/run/run_end.hpp>
#include <perp/schemes/run/stepwise_run.hpp>

namespace perp {

/// One run: the loop over the steps, and over the pieces of a step that is not one in its mode.
class EventRun final : public StepwiseRun {
 public:
  EventRun(Scheme& scheme, const std::vector<Law>& laws, const ModeChanges& changes,
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

  void start() override;

  /// From a state of the scheme that was current before.
  void start_from(const Step& state) {
    scheme_.restore(state);
    begin();
  }

  /// By the steps that leave no row, and the next one.
  void advance() override {
    guarded([this] { advance_on_grid(); });
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

  [[nodiscard]] std::optional<Offer> offer() override;
  void leap(long steps) override;

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

  /// Steps in the present mode that nobody looks into, nor asks to be told of one by one.
  long stay(const UniformSteps& steps) {
    if (trace_ != nullptr || is_watched()) return 0;
    UniformSteps until = switch_.before(steps);
    until.last = std::min(until.last, until.first + record_.most_at_once() - 1);
    const Stay taken = until.last < until.first ? Stay{} : scheme_.stay(until, record_.room());
    record_.count(taken);
    steps_ += taken.steps;
    return taken.steps;
  }

  /// Is something looked for from where a piece begins?
  [[nodiscard]] bool needs_start() const { return !bounds_.empty() || changes_.poles != nullptr; }
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
  bool advance_through_switches(double t_next, double h);

  /// The number of steps so far at the end of the run, else 0.
  [[nodiscard]] long steps_of_end() const { return scheme_.t() >= end_ ? steps_ : 0; }

  /// The time of the present state, on the grid where a switch stopped the scheme short of it by rounding.
  [[nodiscard]] double time() const { return scheme_.t() == stands_.at ? stands_.for_time : scheme_.t(); }

  bool go_to(double t_next, double h) {
    if (is_watched_) return advance_in_pieces(t_next, h, {});
    const bool has_poles = is_watched() && !changes_.poles->is_calm_in_time(scheme_.t(), t_next);
    if (has_poles) put_state(before_);
    const Attempt attempt = scheme_.attempt(t_next, h);
    if (!keeps_mode(attempt)) return advance_in_pieces(t_next, h, attempt);
    return !has_poles || is_calm() || advance_in_pieces(t_next, h, {}, true);
  }

  /// The present state of the scheme, in the room of another one.
  void put_state(Step& room);

  /// Did the step from `before_` to the present state, in one mode, pass nothing that is to be looked for?
  bool is_calm();

  /// The same of a step that may end before t_next; `first`: the attempt at it, if one was made. `is_made`: it was
  /// accepted in the mode of `before_`, where it began.
  bool advance_in_pieces(double t_next, double h, std::optional<Attempt> first, bool is_made = false);
  /// What a piece from `from` to `to` has met; none: the next one leads to `to`. Else: does the run go on?
  std::optional<bool> end_piece(const Step& from, double& to, double t_next, std::size_t logged, Firings& firings);

  /// A step of this length to `to`, or a shorter one to the end of a mode. `failure_`: there is none.
  void take_piece(const Attempt& attempt, double to, double length);

  /// Accepts the attempted step if it is solved in the present mode.
  bool keeps_mode(const Attempt& attempt) {
    if (attempt.status != Status::solved || !attempt.kept_mode) return false;
    record_.count(attempt);
    scheme_.accept();
    return true;
  }

  /// The first pole of the equations on the way since `from` to `end`, on which jumps are no motion.
  std::optional<PoleWatch::Pole> pole_since(const Step& from, double end);

  /// Back to `from`, and half-way to the pole with a step that ends at `to`. False: the run ends, as near as steps get.
  bool goes_nearer(const PoleWatch::Pole& pole, const Step& from, double& to);

  /// A reset fired more than once: half the way from `start`. False: no way is shorter.
  bool halve(double start, double& to);

  /// A piece's events, without what its resets made void, jumps and course. Both sides of a reset at its end are rows.
  void tell_path();
  void log_piece(const Scheme::ResetOutcome& outcome, bool has_reset, std::vector<Event> jumps, double t_next);

  /// Within a step of the user's length a piece ends here, and the course of the next one is another line.
  void pass_end_of_mode();

  /// `jumps`: data jump here, and with them what has no rate.
  void trace(bool jumps = false) {
    if (trace_ == nullptr) return;
    trace_->add(time(), scheme_.x(), scheme_.mode(), record_.jumping());
    if (jumps) trace_->jump(record_.jumping());
  }

  /// Does the run end in the piece from `from`, at a bound or since no step goes on?
  bool ends_in_piece(const Step& from, std::size_t logged, bool has_reset);

  /// A start that cannot be made.
  void refuse(const Attempt& start);

  /// Resets that follow each other without end within one step: the run ends. False.
  bool resets_accumulate(const std::string& names);

  /// Keeps the state where the solution ends and says why.
  void fail(const ModePassage::Failure& failure);

  /// Where no step of length h follows; if for want of a solution, by how much each mode misses one.
  RunEnd here(Status status, double h);

  /// The run ends here, and the log says so.
  void end(EventKind kind, Status status, std::string message, std::string note);

  void finish(Status status, std::string message) {
    record_.finish(status, std::move(message), scheme_.t(), scheme_.x());
    if (record_.lacks_end(time())) record_.keep(state());
    record_.counts()["steps"] = steps_;
    scheme_.count(record_.counts());
  }

  void advance_on_grid() {
    check_interruption();
    const long stayed = stay(grid_.before_asked());
    grid_.leap(stayed);
    if (stayed > 0 && !tell(stayed)) return;
    const StepGrid::Step step = grid_.step();
    if (make_step(step.to, step.length) && keep(step.is_asked)) grid_.advance();
    trace();
  }
  /// Keeps and reports the current state, if rows are wanted. False: the run has ended.
  bool keep(bool is_asked) { return tell_moment() && (!record_.takes_rows() || keep_state(is_asked)); }
  /// False: whoever is told asks to stop.
  bool tell_moment() {
    if (!options_.moments || options_.moments(time(), scheme_.mode())) return true;
    finish(Status::interrupted, interrupted_text(time()));
    return false;
  }
  /// Of so many steps that were made at once. False: whoever is told asks to stop.
  bool tell(long steps) {
    if (!tell_moment()) return false;
    if (!record_.takes_steps()) return true;
    put_state(last_kept_);
    last_kept_.t = time();
    if (record_.row(steps, last_kept_)) return true;
    finish(Status::interrupted, interrupted_text(time()));
    return false;
  }
  bool keep_state(bool is_asked) {
    if (options_.only_times && !is_asked) {
      if (options_.course) record_.pass(state());
      return true;
    }
    if (!has_started_ || scheme_.has_resets()) {
      last_kept_ = state();
    } else {
      put_state(last_kept_);
      last_kept_.t = time();
    }
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
  double began_ = 0;  // where the present piece of it did
  long steps_ = 0;
};

}  // namespace perp

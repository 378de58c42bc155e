#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include <perp/core/base/error.hpp>
#include <perp/core/base/interruption.hpp>
#include <perp/schemes/check_options.hpp>
#include <perp/schemes/end_of_mode.hpp>
#include <perp/schemes/events/bound_watch.hpp>
#include <perp/schemes/events/event_log.hpp>
#include <perp/schemes/events/events.hpp>
#include <perp/schemes/run.hpp>
#include <perp/schemes/run_end.hpp>
#include <perp/schemes/safeguard.hpp>
#include <perp/schemes/step_grid.hpp>

namespace perp {
namespace {

constexpr int most_resets = 100;   ///< within one step
constexpr int most_splits = 32;    ///< of one step, at changes of mode
constexpr int shortest_way = -30;  ///< h·2^k between two firings of a reset

/// One run: the loop over the steps, the safeguard, the record.
class Run {
 public:
  Run(Scheme& scheme, const std::vector<Law>& laws, const ModeChanges& changes,
      const IntegrateOptions& options, const Vector& x0)
      : scheme_(scheme), laws_(laws), changes_(changes), options_(options), events_(laws),
        bounds_(options.bounds, static_cast<int>(x0.size())), is_recorded_(options.keep || options.observer),
        is_watched_(!bounds_.empty() || scheme.has_resets()) {}

  Trajectory operator()(const Vector& x0, Span span, double h) {
    h_ = h;
    const Attempt start = scheme_.start(span.start, x0, h, result_.events);
    steps_ = 0;
    if (start.status != Status::solved) {
      result_.append({span.start, x0, scheme_.lambda(), scheme_.w(), {}});
      const std::string message = scheme_.message();  // what follows may replace it
      RunEnd at = here(start.status, h);
      at.t = span.start;
      const std::string why = refused_start_text(at, message);
      if (ends_in_refused_start(result_.events))
        finish(start.status, why);  // the log says so already
      else
        end(EventKind::no_solution, start.status, why, message);
      return std::move(result_);
    }
    return go(span, h);
  }

  Trajectory resume(const Step& from, double end, double h) {
    h_ = h;
    scheme_.restore(from);
    return go({from.t, end}, h);
  }

 private:
  /// A step of length h from t_before that cannot be made: the scheme stands where it ended.
  struct Failure {
    Refinement refinement;
    double h, t_before;
  };
  /// From the present state of the scheme to the end of the span.
  Trajectory go(Span span, double h) {
    sizes_ = scheme_.x().cwiseAbs();
    const std::optional<std::string> outside = bounds_.start(scheme_, result_.events);
    const auto step = [this](double t_next, double length, bool is_asked) {
      return advance(t_next, length) && record(is_asked);
    };
    const auto leap = [this](const UniformSteps& steps) { return stay(steps); };
    try {
      if (keep_state(true) && !outside) for_each_step(span, h, options_.times, leap, step);
    } catch (const Interrupted&) {  // within a step: the last state that was kept is the end
      scheme_.restore(last_kept_);
      interrupt();
    }
    if (outside) finish(Status::interrupted, *outside);
    if (result_.status == Status::never_run)
      finish(Status::solved, fmt::format("reached t = {:.10g} in {} steps", scheme_.t(), steps_));
    return std::move(result_);
  }

  /// Is there anything to look for within the next step?
  [[nodiscard]] bool is_watched() const {
    return is_watched_ || (changes_.poles != nullptr && changes_.poles->watches(scheme_.mode()));
  }

  /// Steps in the present mode that leave no row and that nobody looks into.
  long stay(const UniformSteps& steps) {
    const bool is_seen = is_recorded_ && !options_.only_times;
    const long taken = is_seen || is_watched() ? 0 : scheme_.stay(steps);
    steps_ += taken;
    return taken;
  }

  /// To t_next by one step, or several where modes change or resets happen. False: the run ends.
  bool advance(double t_next, double h) {
    from_ = scheme_.t(), splits_ = 0, ++steps_;
    if (is_watched()) return advance_in_pieces(t_next, h, {});
    const Attempt attempt = scheme_.attempt(t_next, h);
    return keeps(attempt) || advance_in_pieces(t_next, h, attempt);
  }

  /// The same of a step that may end before t_next; `first`: the attempt at it, if one was made.
  bool advance_in_pieces(double t_next, double h, std::optional<Attempt> first) {
    double to = t_next;
    for (int resets = 0;;) {
      check_interruption();
      const double start = scheme_.t();
      const std::size_t logged = result_.events.size();
      const Step from = bounds_.empty() && changes_.poles == nullptr ? Step{} : scheme_.snapshot();
      failure_.reset();
      const double length = start == from_ && to == t_next ? h : to - start;
      const Attempt attempt = first ? *std::exchange(first, {}) : scheme_.attempt(to, length);
      if (!keeps(attempt)) leave_mode(attempt, to, length);
      if (const std::optional<PoleWatch::Pole> pole = pole_since(from, to)) {
        if (!goes_nearer(*pole, from, to)) return false;
        continue;
      }
      std::vector<Event> jumps;
      const Scheme::ResetOutcome outcome = scheme_.reset(jumps);
      if (outcome.kind == Scheme::ResetOutcome::Kind::too_long) {
        events_.drop_all();
        const double last = std::exchange(to, start + (to - start) / 2);
        if (to - start > std::ldexp(h_, shortest_way) && to > start && to < last) continue;
        return resets_accumulate(outcome.names);
      }
      const bool has_reset = outcome.kind == Scheme::ResetOutcome::Kind::applied;
      if (has_reset) events_.drop(outcome);
      events_.write(result_.events);
      for (Event& jump : jumps) result_.events.push_back(std::move(jump));
      if (has_reset) ++result_.counts["resets"], ++steps_, ++resets;
      if (const auto passed = bounds_.pass(scheme_, from, logged, steps_, result_.events)) {
        if (scheme_.t() > from_) record(true);  // there the last row stands
        finish(Status::interrupted, *passed);
      } else if (!has_reset && failure_) {
        fail(*failure_);
      }
      if (result_.status != Status::never_run) return false;
      if (resets == most_resets) return resets_accumulate(outcome.names);
      if (scheme_.t() >= t_next) return true;
      to = t_next;
    }
  }

  /// The first pole of the equations on the way since `from` to `end`, on which jumps are no motion.
  std::optional<PoleWatch::Pole> pole_since(const Step& from, double end) {
    if (changes_.poles == nullptr) return std::nullopt;
    PoleWatch& poles = *changes_.poles;
    if (failure_)
      if (auto pole = poles.pass_path(from, failure_->refinement.path, end)) return pole;
    if (auto pole = events_.pole_on_way(poles, from, scheme_.snapshot())) return pole;
    return scheme_.passes_jumps() ? std::nullopt : poles.singular_end({from, scheme_.snapshot()});
  }

  /// The scheme goes back to `from`, and half-way to the pole with its next step, which ends at `to`.
  /// False: it is as near as steps get, the run ends.
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

  /// Resets that follow each other without end within one step: the run ends. False.
  bool resets_accumulate(const std::string& names) {
    if (!record(true)) return false;
    end(EventKind::accumulation, Status::not_solved,
        accumulation_text(here(Status::not_solved, h_), names),
        fmt::format("resets accumulate: {}; a contact law passes such a point", names));
    return false;
  }

  /// Accepts the attempted step if it is solved in the present mode.
  bool keeps(const Attempt& attempt) {
    if (attempt.status != Status::solved || !attempt.kept_mode) return false;
    note(attempt);
    scheme_.accept();
    return true;
  }

  /// What follows an attempted step that is not one in the present mode; `failure_`: nothing does.
  void leave_mode(const Attempt& attempt, double t_next, double h) {
    if (scheme_.passes_jumps()) return pass(attempt, h);
    if (attempt.status == Status::solved) return change_mode(t_next, h, attempt);
    pass_in_short_steps(t_next, h, {});
  }

  /// The attempted step of a scheme whose steps may contain impacts, taken as it is.
  void pass(const Attempt& attempt, double h) {
    if (attempt.status != Status::solved) {
      failure_ = {{attempt.status, {}, scheme_.message()}, h, scheme_.t()};
      return;
    }
    note(attempt);
    const Step before = scheme_.snapshot();
    scheme_.accept();
    const std::vector<Event> changes =
        mode_events(laws_, before, scheme_.snapshot(), scheme_.departures());
    if (!changes.empty()) ++result_.counts["mode_changes"];
    log(in_order_of_time(scheme_.jumps(), changes));
  }

  void note(const Attempt& attempt) {
    if (attempt.solutions > 1 || attempt.solutions < 0) ++several_;
    if (attempt.ties > 0) ++ties_;
  }

  /// A step whose mode changes: accepted if its length shrinks with h as that of a continuous
  /// solution does, else passed in short steps that tell a jump from an artefact of the long one.
  void change_mode(double t_next, double h, const Attempt& found) {
    const Step before = scheme_.snapshot();
    const Vector whole = scheme_.motion(before.x, scheme_.attempted());
    sizes_ = sizes_.cwiseMax(before.x.cwiseAbs()), ends_.clear();
    if (changes_.split && splits_ < most_splits &&
        go_to_end_of_mode(scheme_, before, t_next, h, ends_)) {
      ++splits_;
      ++result_.counts["split"];
      return;
    }
    ++result_.counts["mode_changes"];
    note(found);
    if (skips_modes(scheme_, before, t_next, h)) {
      if (changes_.split && splits_ < most_splits &&
          pass_first_change(scheme_, before, t_next, h, drift())) {
        ++splits_, ends_.clear();
        log_step(before);
        return;
      }
      pass_in_short_steps(t_next, h, whole);
      return;
    }
    const bool lost = !scheme_.lost_variables().empty();
    const std::vector<int> rows = unsteady_rows(scheme_, before, whole, h, drift());
    if (!lost && rows.empty() && take_step(scheme_, before, t_next, h)) {
      log_step(before);
      return;
    }
    const Refinement refinement = refine(scheme_, t_next, h, changes_.refinements);
    if (refinement.status == Status::not_solved && !lost &&
        shrinks_as_a_whole(scheme_, before, whole, h) && take_step(scheme_, before, t_next, h)) {
      ++result_.counts["not_refined"];
      log_step(before);
      return;
    }
    if (refinement.status != Status::solved) {
      scheme_.restore(refinement.to);
      // The selector went where no sequence of shorter steps leads: the solution ended on the way.
      log_changes(refinement, h, whole);
      failure_ = {refinement, h, before.t};
      return;
    }
    // A jump is passed as it was located: a long step ends with what its length makes of it.
    if (!has_jump(refinement, h, whole)) {
      if (take_step(scheme_, before, t_next, h) &&
          !differs(scheme_, before, refinement.to, whole, rows)) {
        log_step(before);
        return;
      }
      scheme_.restore(refinement.to);
    }
    ++result_.counts["refined"];
    log_changes(refinement, h, whole);
  }

  /// Logs the changes of the last accepted step.
  void log_step(const Step& before) {
    std::vector<Event> events =
        mode_events(laws_, before, scheme_.snapshot(), sooner(scheme_.departures(), ends_));
    for (Event& event : events) event.t_before = from_;
    log(std::move(events));
  }

  /// To t_next in steps that stop at every change of mode; `whole`: see `is_jump`.
  void pass_in_short_steps(double t_next, double h, const Vector& whole) {
    const double t_before = scheme_.t();
    const Refinement refinement = refine(scheme_, t_next, h, changes_.refinements);
    ++result_.counts["refined"];
    log_changes(refinement, h, whole);
    if (refinement.status != Status::solved) failure_ = {refinement, h, t_before};
  }

  /// Up to where a motion may be what the rounding of all steps so far has left.
  [[nodiscard]] Vector drift() const { return scheme_.drift(sizes_, steps_); }

  [[nodiscard]] bool has_jump(const Refinement& refinement, double h, const Vector& whole) const {
    return std::ranges::any_of(refinement.changes, [&](const LocatedChange& change) {
      return is_jump(scheme_, refinement, change, whole, h, drift());
    });
  }

  void log(std::vector<Event> events) {
    const bool enters = std::any_of(events.begin(), events.end(), [](const Event& event) {
      return event.kind == EventKind::sliding_entry;
    });
    events_.add(std::move(events), enters && leaves_at_once(scheme_, h_));
  }

  void log_changes(const Refinement& refinement, double h, const Vector& whole) {
    for (const LocatedChange& change : refinement.changes) {
      if (is_jump(scheme_, refinement, change, whole, h, drift()))
        log({jump_event(change.before, change.after, change.norm)});
      else
        log(mode_events(laws_, change.before, change.after, {}));
    }
  }

  /// Where no step of length h follows; if for want of a solution, by how much each mode misses one.
  RunEnd here(Status status, double h) {
    const bool has_mode = !laws_.empty() && scheme_.mode().size() == laws_.size();
    return {scheme_.t(), steps_, has_mode ? describe(laws_, scheme_.mode()) : "",
            status == Status::no_solution ? modes_text(laws_, scheme_.violations(h)) : ""};
  }

  /// Keeps the state where the solution ends and says why.
  void fail(const Failure& failure) {
    const Refinement& refinement = failure.refinement;
    if (scheme_.t() > failure.t_before) record(true);
    const bool ends = refinement.status == Status::no_solution;
    const RunEnd at = here(refinement.status, failure.h);
    const bool lists = !at.residuals.empty();
    const std::string why = lists ? "residuals of the modes: " + at.residuals : refinement.message;
    end(EventKind::no_solution, refinement.status, stopped_text(at, ends, why),
        ends ? fmt::format("no solution continues; for a step of {:g}: {}", failure.h, why) : why);
  }

  /// The run ends here, and the log says so.
  void end(EventKind kind, Status status, std::string message, std::string note) {
    if (kind != EventKind::no_solution || status == Status::no_solution)  // else for another reason
      result_.events.push_back(event_at(kind, scheme_.t(), scheme_.x(), std::move(note)));
    finish(status, std::move(message));
  }

  /// Keeps and reports the current state. False if the observer asks to stop.
  bool record(bool requested) { return !is_recorded_ || keep_state(requested); }
  bool keep_state(bool requested) {
    if (options_.only_times && !requested) return true;
    last_kept_ = scheme_.snapshot();
    if (options_.keep || result_.t.empty()) result_.append(last_kept_);
    const bool goes_on = !options_.observer || options_.observer(last_kept_);
    if (!goes_on) interrupt();
    return goes_on;
  }
  void interrupt() { finish(Status::interrupted, interrupted_text(scheme_.t())); }

  void finish(Status status, std::string message) {
    log_end(status, scheme_.t(), scheme_.x(), message, result_.events);
    result_.status = status;
    result_.message = std::move(message);
    if (!options_.keep && !result_.t.empty() && scheme_.t() > result_.t.back())
      result_.append(scheme_.snapshot());
    result_.counts["steps"] = steps_;
    if (several_ > 0) result_.counts["several_solutions"] = several_;
    if (ties_ > 0) result_.counts["ties"] = ties_;
    scheme_.count(result_.counts);
  }

  Scheme& scheme_;
  const std::vector<Law>& laws_;
  ModeChanges changes_;
  const IntegrateOptions& options_;
  EventLog events_;
  BoundedWay bounds_;
  bool is_recorded_;  // states after the first
  bool is_watched_;   // there are bounds or resets to look for within each step
  Trajectory result_;
  std::optional<Failure> failure_;  // of the step being made
  Step last_kept_;
  double h_ = 0;
  Vector sizes_;  // largest |x_j| at the start and where modes changed
  long steps_ = 0, several_ = 0, ties_ = 0;  // all, of several solutions, of equally near ones
  double from_ = 0;  // where the present step of the user's length began
  int splits_ = 0;   // and its number of pieces so far
  std::vector<Scheme::Departure> ends_;  // that shorter steps than the present one have shown
};

}  // namespace

Trajectory run(Scheme& scheme, const std::vector<Law>& laws, const Vector& x0, Span span, double h,
               const ModeChanges& changes, const IntegrateOptions& options) {
  check_steps(span, h, options.times);
  return Run(scheme, laws, changes, options, x0)(x0, span, std::min(h, span.end - span.start));
}

Trajectory resume(Scheme& scheme, const std::vector<Law>& laws, const Step& from, double end,
                  double h, const ModeChanges& changes, const IntegrateOptions& options) {
  check_steps({from.t, end}, h, options.times);
  return Run(scheme, laws, changes, options, from.x).resume(from, end, std::min(h, end - from.t));
}

}  // namespace perp

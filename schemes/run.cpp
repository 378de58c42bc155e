#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include <perp/core/error.hpp>
#include <perp/schemes/check_options.hpp>
#include <perp/schemes/events.hpp>
#include <perp/schemes/run.hpp>
#include <perp/schemes/safeguard.hpp>

namespace perp {
namespace {

constexpr int most_resets = 100;  ///< within one step
constexpr int most_splits = 32;   ///< of one step, at changes of mode

/// One run: the loop over the steps, the safeguard, the record.
class Run {
 public:
  Run(Scheme& scheme, const std::vector<Law>& laws, const ModeChanges& changes,
      const IntegrateOptions& options)
      : scheme_(scheme), laws_(laws), changes_(changes), options_(options) {}

  Trajectory operator()(const Vector& x0, Span span, double h) {
    h_ = h;
    const Attempt start = scheme_.start(span.start, x0, h, result_.events);
    steps_ = 0;
    if (start.status != Status::solved) {
      result_.append({span.start, x0, scheme_.lambda(), scheme_.w(), {}});
      const std::string message = scheme_.message();  // what follows may replace it
      const std::string residuals =
          start.status == Status::no_solution ? residuals_of_modes(h) : std::string();
      finish(start.status,
             fmt::format("no step can be made at t = {:.10g}: {}{}{}", span.start, message,
                         residuals.empty() ? "" : "; residuals of the modes: ", residuals));
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
  /// From the present state of the scheme to the end of the span.
  Trajectory go(Span span, double h) {
    size_ = scheme_.x().lpNorm<Eigen::Infinity>();
    if (record(true)) cover(span, h);
    if (result_.status == Status::never_run)
      finish(Status::solved, fmt::format("reached t = {:.10g} in {} steps", scheme_.t(), steps_));
    return std::move(result_);
  }

  /// Steps of length h through the span, shorter only to land exactly on a requested time or the
  /// end.
  void cover(Span span, double h) {
    std::vector<double> targets;
    for (const double t : options_.times)
      if (t > span.start && t < span.end) targets.push_back(t);
    targets.push_back(span.end);
    double from = span.start;
    for (const double to : targets) {
      const double exact = (to - from) / h;
      const auto count = std::max(1L, static_cast<long>(std::ceil(exact * (1 - 1e-14) - 1e-9)));
      for (long k = 1; k <= count; ++k) {
        const bool last = k == count;
        const double t_next = last ? to : from + static_cast<double>(k) * h;
        const double rest = to - (from + static_cast<double>(count - 1) * h);
        // Rounding of t must not make a new step length: the last step is h where it is h up to
        // that.
        const bool whole = std::abs(rest - h) <= 16 * std::numeric_limits<double>::epsilon() *
                                                     (std::abs(from) + std::abs(to));
        if (!advance(t_next, last && !whole ? rest : h)) return;
        if (!record(last)) return;
      }
      from = to;
    }
  }

  /// To t_next by a step of length h, or in several where modes change or resets happen. False if
  /// the run ends here.
  bool advance(double t_next, double h) {
    from_ = scheme_.t();
    splits_ = 0;
    ++steps_;
    if (!step(t_next, h)) return false;
    for (int resets = 0;;) {
      const Scheme::ResetOutcome outcome = scheme_.reset(result_.events);
      if (outcome != Scheme::ResetOutcome::none) {
        if (outcome == Scheme::ResetOutcome::accumulate || resets == most_resets) {
          finish(Status::not_solved,
                 fmt::format("resets accumulate at t = {:.10g} (step {}): {}", scheme_.t(), steps_,
                             scheme_.message()));
          return false;
        }
        ++resets;
        ++result_.counts["resets"];
        ++steps_;
      }
      if (scheme_.t() >= t_next) return true;
      if (!step(t_next, t_next - scheme_.t())) return false;
    }
  }

  /// One step with everything around it. False if the run ends here.
  bool step(double t_next, double h) {
    const Attempt attempt = scheme_.attempt(t_next, h);
    if (attempt.status == Status::solved && attempt.kept_mode) {
      note(attempt);
      scheme_.accept();
      return true;
    }
    if (scheme_.passes_jumps()) return pass(attempt, h);
    if (attempt.status == Status::solved) return change_mode(t_next, h, attempt);
    return pass_in_short_steps(t_next, h, 0);
  }

  /// The attempted step of a scheme whose steps may contain impacts, taken as it is.
  bool pass(const Attempt& attempt, double h) {
    if (attempt.status != Status::solved) {
      fail({attempt.status, {}, scheme_.message()}, h, scheme_.t());
      return false;
    }
    note(attempt);
    const Step before = scheme_.snapshot();
    scheme_.accept();
    std::vector<Event> events = scheme_.jumps();
    std::vector<Event> changes =
        mode_events(laws_, before, scheme_.snapshot(), scheme_.departures());
    if (!changes.empty()) ++result_.counts["mode_changes"];
    events.insert(events.end(), changes.begin(), changes.end());
    std::stable_sort(events.begin(), events.end(),
                     [](const Event& a, const Event& b) { return a.t < b.t; });
    log(std::move(events));
    return true;
  }

  void note(const Attempt& attempt) {
    if (attempt.solutions > 1 || attempt.solutions < 0) ++several_;
    if (attempt.ties > 0) ++ties_;
  }

  /// A step whose mode changes: accepted if its length shrinks with h as that of a continuous
  /// solution does, else passed in short steps that tell a jump from an artefact of the long one.
  bool change_mode(double t_next, double h, const Attempt& found) {
    const Step before = scheme_.snapshot();
    const double norm = scheme_.attempted_norm();
    if (changes_.split && splits_ < most_splits &&
        go_to_end_of_mode(scheme_, before, t_next, h)) {
      ++splits_;
      ++result_.counts["split"];
      return true;
    }
    ++result_.counts["mode_changes"];
    note(found);
    bool logged = false;
    if (skips_modes(scheme_, before, t_next, h)) {
      if (changes_.split && splits_ < most_splits &&
          pass_first_change(scheme_, before, t_next, h, size_)) {
        ++splits_;
        log_step(before);
        return true;
      }
      return pass_in_short_steps(t_next, h, norm);
    }
    if (!shrinks(scheme_, before, norm, h, size_)) {
      const Refinement refinement = refine(scheme_, t_next, h, changes_.refinements);
      if (refinement.status != Status::solved) {
        // The selector went where no sequence of shorter steps leads: the solution ended on the
        // way.
        log_changes(refinement, norm);
        fail(refinement, h, before.t);
        return false;
      }
      const Step refined = scheme_.snapshot();
      take_step(scheme_, before, t_next, h);
      if (differs(before, refined, norm)) {
        ++result_.counts["refined"];
        scheme_.restore(refined);
        log_changes(refinement, norm);
        return true;
      }
      logged = has_jump(refinement, norm);
      if (logged) log_changes(refinement, norm);
    } else {
      take_step(scheme_, before, t_next, h);
    }
    if (!logged) log_step(before);
    return true;
  }

  /// Logs the changes of the last accepted step.
  void log_step(const Step& before) {
    std::vector<Event> events =
        mode_events(laws_, before, scheme_.snapshot(), scheme_.departures());
    for (Event& event : events) event.t_before = from_;
    log(std::move(events));
  }

  /// To t_next in steps that stop at every change of mode; `norm`: see `is_jump`. False if the run
  /// ends here.
  bool pass_in_short_steps(double t_next, double h, double norm) {
    const double t_before = scheme_.t();
    const Refinement refinement = refine(scheme_, t_next, h, changes_.refinements);
    ++result_.counts["refined"];
    log_changes(refinement, norm);
    if (refinement.status == Status::solved) return true;
    fail(refinement, h, t_before);
    return false;
  }

  /// Did the long step, now current, end elsewhere than the short ones: an artefact of its length?
  [[nodiscard]] bool differs(const Step& before, const Step& refined, double norm) const {
    if (scheme_.mode() == refined.mode) return false;
    const double travelled = (refined.x - before.x).norm() + norm;
    return (scheme_.x() - refined.x).norm() > 0.25 * travelled;
  }

  /// Is a change of mode across a tiny step a jump? `norm` is the length of the whole step, 0:
  /// unknown.
  [[nodiscard]] bool is_jump(const LocatedChange& change, double norm) const {
    const double size = 1 + change.before.x.norm();
    if (change.norm <= 1e-12 * size) return false;  // rounding
    const double scale = norm > 0 ? norm : size;
    return change.norm > std::max(1e-6, 64 * std::ldexp(1.0, -changes_.refinements)) * scale;
  }

  [[nodiscard]] bool has_jump(const Refinement& refinement, double norm) const {
    return std::any_of(refinement.changes.begin(), refinement.changes.end(),
                       [&](const LocatedChange& change) { return is_jump(change, norm); });
  }

  void log(std::vector<Event> events) {
    std::vector<int> entered;
    for (const Event& event : events)
      if (event.kind == EventKind::sliding_entry) entered.push_back(event.law);
    append_events(laws_, std::move(events), passing_, result_.events);
    if (!entered.empty()) passing_ = leaves_at_once() ? std::move(entered) : std::vector<int>{};
  }

  /// Does the current mode end with the current state? Told by a step too short for anything else.
  bool leaves_at_once() {
    const double moment = std::ldexp(h_, -10);
    const Attempt attempt = scheme_.attempt(scheme_.t() + moment, moment);
    return attempt.status == Status::solved && !attempt.kept_mode;
  }

  void log_changes(const Refinement& refinement, double norm) {
    for (const LocatedChange& change : refinement.changes) {
      if (is_jump(change, norm))
        log({jump_event(change.before, change.after, change.norm)});
      else
        log(mode_events(laws_, change.before, change.after, {}));
    }
  }

  /// By how much each mode misses a step of length h.
  std::string residuals_of_modes(double h) {
    std::string text;
    for (const auto& [mode, violation] : scheme_.violations(h))
      text += fmt::format("{}{}: {:.3g}", text.empty() ? "" : ", ", describe(laws_, mode),
                          violation);
    return text;
  }

  /// Keeps the state where the solution ends and says why.
  void fail(const Refinement& refinement, double h, double t_before) {
    if (scheme_.t() > t_before) record(true);
    Event event;
    event.kind = EventKind::no_solution;
    event.t = event.t_before = event.t_after = scheme_.t();
    event.x_before = event.x_after = scheme_.x();
    const std::string residuals = residuals_of_modes(h);
    if (refinement.status == Status::no_solution && residuals.empty()) {
      event.note = "no solution continues: " + refinement.message;
      result_.events.push_back(event);
      finish(Status::no_solution,
             fmt::format("no solution after t = {:.10g} (step {}, mode [{}]): {}", scheme_.t(),
                         steps_, describe(laws_, scheme_.mode()), refinement.message));
    } else if (refinement.status == Status::no_solution) {
      event.note = "no solution continues; residuals of the modes for a step of " +
                   fmt::format("{:g}", h) + ": " + residuals;
      result_.events.push_back(event);
      finish(Status::no_solution,
             fmt::format(
                 "no solution after t = {:.10g} (step {}, mode [{}]); residuals of the modes: {}",
                 scheme_.t(), steps_, describe(laws_, scheme_.mode()), residuals));
    } else {
      finish(refinement.status,
             fmt::format("stopped at t = {:.10g} (step {}, mode [{}]): {}", scheme_.t(), steps_,
                         describe(laws_, scheme_.mode()), refinement.message));
    }
  }

  /// Keeps and reports the current state. False if the observer asks to stop.
  bool record(bool requested) {
    const bool first = result_.t.empty();
    const bool wanted = options_.only_times ? requested : true;
    if (!wanted) return true;
    if (options_.keep) result_.append(scheme_.snapshot());
    if (options_.observer && !options_.observer(scheme_.snapshot())) {
      finish(Status::interrupted, fmt::format("interrupted at t = {:.10g}", scheme_.t()));
      return false;
    }
    if (!options_.keep && first) result_.append(scheme_.snapshot());
    return true;
  }

  void finish(Status status, std::string message) {
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
  Trajectory result_;
  std::vector<int> passing_;  // laws whose last entry into sliding was a surface being crossed
  double h_ = 0;
  long steps_ = 0;
  double from_ = 0;  // where the present step of the user's length began
  int splits_ = 0;   // and its number of pieces so far
  long several_ = 0, ties_ = 0;  // steps with several solutions, and with equally near ones
  double size_ = 0;  // largest |x| met at a change of mode
};

void check(Span span, double h, const IntegrateOptions& options) {
  check_span(span, options.times);
  if ((span.end - span.start) / h > 1e15)
    throw InvalidInput(
        fmt::format("h = {} is too small for the span [{}, {}]", h, span.start, span.end));
}

}  // namespace

Trajectory run(Scheme& scheme, const std::vector<Law>& laws, const Vector& x0, Span span, double h,
               const ModeChanges& changes, const IntegrateOptions& options) {
  check(span, h, options);
  return Run(scheme, laws, changes, options)(x0, span, std::min(h, span.end - span.start));
}

Trajectory resume(Scheme& scheme, const std::vector<Law>& laws, const Step& from, double end,
                  double h, const ModeChanges& changes, const IntegrateOptions& options) {
  check({from.t, end}, h, options);
  return Run(scheme, laws, changes, options).resume(from, end, std::min(h, end - from.t));
}

}  // namespace perp

// Steps that leave their mode: called by the run loop where a step is not one in the present mode.
#include <algorithm>
#include <utility>

#include <perp/schemes/end_of_mode.hpp>
#include <perp/schemes/events/events.hpp>
#include <perp/schemes/run/mode_passage.hpp>
#include <perp/schemes/step/known_part.hpp>

namespace perp {
namespace {

constexpr std::size_t most_splits = 32;  ///< of one step, at changes of mode; of more laws one for each
constexpr std::size_t most_located = 512;      ///< unknowns and laws of a system all changes of which are located
constexpr std::size_t most_split_work = 16384;  ///< of larger ones times the pieces of a step: each is some twenty steps

}  // namespace

std::optional<ModePassage::Failure> ModePassage::pass(const Attempt& attempt, double t_next, double h,
                                                      long steps) {
  steps_ = steps;
  path_.clear();
  if (scheme_.passes_jumps()) return take_as_it_is(attempt, h);
  sizes_ = sizes_.cwiseMax(scheme_.x().cwiseAbs());
  drift_ = scheme_.drift(sizes_, steps_);
  Attempt found = attempt;
  if (enters_seen_mode(t_next)) {
    found = scheme_.attempt(t_next, h);
    if (found.status == Status::solved && found.kept_mode) {
      record_.count(found);
      scheme_.accept();
      return std::nullopt;
    }
  }
  if (found.status == Status::solved) return change_mode(found, t_next, h);
  return go_in_short_steps(t_next, h, {});
}

/// Behind a reset that carries laws beyond their ends, the mode that they are in at once becomes the present one: what the
/// step makes of it begins there. Was there such a change?
bool ModePassage::enters_seen_mode(double t_next) {
  if (!scheme_.has_resets()) return false;
  const Step before = scheme_.snapshot(), seen = scheme_.seen();
  if (seen.mode == before.mode) return false;
  scheme_.restore(seen);
  ++record_.counts()["mode_changes"];
  std::vector<Event> events = mode_events(laws_, before, seen, {}, scheme_);
  for (Event& event : events) event.t_before = from_, event.t_after = t_next;
  log(std::move(events), true);
  return true;
}

bool ModePassage::may_split() const {
  return changes_.split && static_cast<std::size_t>(splits_) < std::max(most_splits, laws_.size());
}

/// The attempted step of a scheme whose steps may contain impacts.
std::optional<ModePassage::Failure> ModePassage::take_as_it_is(const Attempt& attempt, double h) {
  if (attempt.status != Status::solved)
    return Failure{{attempt.status, {}, scheme_.message()}, h};
  record_.count(attempt);
  const Step before = scheme_.snapshot();
  scheme_.accept();
  const std::vector<Event> changes = mode_events(laws_, before, scheme_.snapshot(), scheme_.departures(), scheme_);
  if (!changes.empty()) ++record_.counts()["mode_changes"];
  log(in_order_of_time(scheme_.jumps(), changes));
  return std::nullopt;
}

/// Goes behind a change in the first moments of the step. False: there is none that is seen.
bool ModePassage::passes_brief_mode(const ModeEnd& end, const Step& before, const Vector& whole, double h) {
  const bool is_early = end.early > 0, leads_elsewhere = !end.after.empty();
  const bool is_passed = (is_early && pass_brief_mode(scheme_, before, whole, h, end.early, rounding())) ||
                         (leads_elsewhere && pass_change_at_once(scheme_, before, h, end.after, rounding()));
  if (is_early || leads_elsewhere) scheme_.renew_allowance();
  return is_passed;
}

/// A piece of the step, to the end of its mode or, where that is brief, behind a change. False: there is none.
bool ModePassage::ends_piece(const Step& before, const Vector& whole, double t_next, double h) {
  const ModeEnd end = go_to_end_of_mode(scheme_, before, t_next, h);
  if (!end.is_reached && !passes_brief_mode(end, before, whole, h)) {
    scheme_.renew_allowance();  // what is tried beside a step is no work of it
    return false;
  }
  if (!end.is_before_pole) ++splits_;  // no number of those that the step is too long for is known: states grow by them
  ++record_.counts()["split"];
  if (scheme_.mode() == before.mode) {
    keep_known(scheme_, before, h_);
  } else {
    ++record_.counts()["mode_changes"];
    log_step(before);
  }
  return true;
}

/// Back from a piece that has changed its mode to where that was, unless it was at the start of the piece: what is at once
/// in the step is not so in a short piece of it.
void ModePassage::shorten_to_change(const Step& before) {
  const double end = scheme_.t(), length = end - before.t;
  const auto is_at_once = [](const Scheme::Departure& departure) { return departure.s < least_share; };
  if (std::ranges::all_of(scheme_.departures(), is_at_once)) return;
  const Step passed = scheme_.snapshot();
  scheme_.restore(before);
  if (go_to_end_of_mode(scheme_, before, end, length).is_reached) {
    if (scheme_.mode() == before.mode) keep_known(scheme_, before, h_);
  } else if (!take_step(scheme_, before, end, length)) {
    scheme_.restore(passed);
  }
}

/// Of a large system: does the attempted step, from `before`, change more laws than what is left of its pieces? All
/// of them are told with the step then. The scheme stands at `before`.
bool ModePassage::changes_too_many(const Step& before) {
  const std::size_t size = static_cast<std::size_t>(before.x.size()) + before.mode.size();
  if (size <= most_located) return false;
  const std::size_t most = changes_.split ? most_split_work / size : 0, made = static_cast<std::size_t>(splits_);
  scheme_.accept();
  std::size_t changes = 0;
  for (std::size_t i = 0; i < before.mode.size(); ++i) changes += scheme_.mode()[i] != before.mode[i];
  const bool is_too_many = changes > most - std::min(most, made);
  if (is_too_many) scheme_.departures();  // for whether the mode before has lost its branch
  scheme_.restore(before);
  return is_too_many;
}

/// A step whose mode changes: split where its mode ends; accepted if its length shrinks with h as that of a
/// continuous solution does; else made again in short steps.
std::optional<ModePassage::Failure> ModePassage::change_mode(const Attempt& found, double t_next, double h) {
  const Step before = scheme_.snapshot();
  const Vector whole = scheme_.motion(before.x, scheme_.attempted());
  is_whole_ = changes_too_many(before);
  if (!is_whole_ && may_split() && ends_piece(before, whole, t_next, h)) return std::nullopt;
  ++record_.counts()["mode_changes"];
  record_.count(found);
  if (is_whole_ || !skips_modes(scheme_, before, t_next, h)) return refine_change(before, whole, t_next, h);
  if (may_split() && pass_first_change(scheme_, before, t_next, h, rounding())) {
    shorten_to_change(before);
    ++splits_;
    log_step(before);
    return std::nullopt;
  }
  return go_in_short_steps(t_next, h, whole);
}

/// Is the rest of a step so short that what happens in it is for the next one to tell? The state is at its end then. What
/// lies between two switches of functions of time is none: what they are there nothing else tells.
bool ModePassage::ends_with(const Step& before, double t_next) {
  if (t_next - before.t > end_of_step * length_) return false;
  Step end = before;
  end.t = t_next;
  scheme_.restore(end);
  --record_.counts()["mode_changes"];
  return true;
}

/// The step as it is, where its short steps are not solved but it shrinks with its length. False: it does not.
bool ModePassage::takes_unrefined(const Refinement& refinement, const Step& before, const Vector& whole, double t_next,
                                  double h) {
  if (refinement.status != Status::not_solved || !shrinks_as_a_whole(scheme_, before, whole, h) ||
      !take_step(scheme_, before, t_next, h))
    return false;
  ++record_.counts()["not_refined"];
  log_step(before);
  return true;
}

std::vector<int> ModePassage::rows_that_may_jump(const Step& before, const Vector& whole, double h) {
  if (scheme_.moves_with_length(h)) return {};
  return unsteady_rows(scheme_, before, whole, h, rounding());
}

/// Is the step done without short ones, as a smooth motion or a kink, in which none of these rows jumps, or as a rest too
/// short to tell?
bool ModePassage::is_done_at_once(const Step& before, const std::vector<int>& rows, double t_next, double h) {
  if (rows.empty() && take_step(scheme_, before, t_next, h)) {
    log_step(before);
    return true;
  }
  return ends_with(before, t_next);
}

/// The step as it is, unless the short ones end elsewhere in one of these rows. False: the scheme stands at their end.
bool ModePassage::agrees_with(const Refinement& refinement, const Step& before, const Vector& whole,
                              const std::vector<int>& rows, double t_next, double h) {
  if (take_step(scheme_, before, t_next, h) && !differs(scheme_, before, refinement.to, whole, rows)) {
    log_step(before);
    return true;
  }
  scheme_.restore(refinement.to);
  return false;
}

/// A change of mode within one step, `whole` its motion: the step is taken where it is a smooth motion or a
/// kink; else its short steps say what happened.
std::optional<ModePassage::Failure> ModePassage::refine_change(const Step& before, const Vector& whole,
                                                               double t_next, double h) {
  const bool lost = !scheme_.lost_variables().empty();
  const std::vector<int> rows = rows_that_may_jump(before, whole, h);
  if (!lost && is_done_at_once(before, rows, t_next, h)) return std::nullopt;
  const Refinement refinement = refine(scheme_, t_next, h, changes_.refinements);
  if (!lost && takes_unrefined(refinement, before, whole, t_next, h)) return std::nullopt;
  if (refinement.status != Status::solved) {
    // The selector went where no sequence of shorter steps leads: the solution ended on the way.
    scheme_.restore(refinement.to);
    log_changes(refinement, h, whole);
    path_ = refinement.path;
    return Failure{refinement, h};
  }
  // A jump is passed as it was located: a long step ends with what its length makes of it.
  if (!has_jump(refinement, h, whole) && agrees_with(refinement, before, whole, rows, t_next, h)) return std::nullopt;
  ++record_.counts()["refined"];
  log_changes(refinement, h, whole);
  path_ = refinement.path;
  return std::nullopt;
}

/// To t_next in steps that stop at every change of mode; `whole`: see `is_jump`.
std::optional<ModePassage::Failure> ModePassage::go_in_short_steps(double t_next, double h,
                                                                   const Vector& whole) {
  const Refinement refinement = refine(scheme_, t_next, h, changes_.refinements);
  ++record_.counts()["refined"];
  log_changes(refinement, h, whole);
  path_ = refinement.path;
  if (refinement.status == Status::solved) return std::nullopt;
  return Failure{refinement, h};
}

bool ModePassage::has_jump(const Refinement& refinement, double h, const Vector& whole) const {
  return std::ranges::any_of(refinement.changes, [&](const LocatedChange& change) {
    return is_jump(scheme_, refinement, change, whole, h, drift_);
  });
}

bool ModePassage::pass_data(double moment) {
  if (!changes_.switches->is_of_data(moment)) return false;
  for (const std::string& jump : changes_.switches->jumps_at(moment))
    record_.events().push_back(event_at(EventKind::mode_change, moment, scheme_.x(), jump));
  Step now = scheme_.snapshot();
  now.t = moment;
  record_.pass(now);
  record_.jump_at(moment);
  scheme_.restore(now);
  return true;
}

/// Logs the changes of the last accepted step: where that was not split, at its end, since when the mode is another one.
void ModePassage::log_step(const Step& before) {
  std::vector<Scheme::Departure> departures;
  if (is_whole_)
    departures.push_back({-1, 1});
  else
    departures = scheme_.departures();
  if (departures.empty() && !scheme_.lost_variables().empty())
    departures = departures_of_arguments(laws_, before, scheme_.snapshot(), scheme_);
  if (departures.empty() && scheme_.leaves_at_end()) departures.push_back({-1, 1});
  std::vector<Event> events = mode_events(laws_, before, scheme_.snapshot(), departures, scheme_, !is_whole_);
  for (Event& event : events) event.t_before = from_;
  if (is_whole_) ++record_.counts()["unsplit"];
  log(std::move(events));
}

void ModePassage::log_changes(const Refinement& refinement, double h, const Vector& whole) {
  for (const LocatedChange& change : refinement.changes) {
    if (!is_jump(scheme_, refinement, change, whole, h, drift_)) {
      log(mode_events(laws_, change.before, change.after, {}, scheme_));
      continue;
    }
    Event jump = jump_event(change.before, change.after, change.norm);
    jump.t = change.moment;
    log({std::move(jump)});
  }
}

/// The moment at which functions of time switch in the present step, which no switch ends, nearest to t; t where there is none.
double ModePassage::nearest_switch(double t, double from) {
  double nearest = t, distance = inf;
  for (auto found = changes_.switches->next(from, scheme_.t()); found; found = changes_.switches->next(found->after, scheme_.t()))
    if (std::abs(found->after - t) < distance) nearest = found->after, distance = std::abs(found->after - t);
  return nearest;
}

void ModePassage::log(std::vector<Event> events, bool is_at_start) {
  // A law of time changes when its argument does, wherever secants within a step place that.
  for (Event& event : events)
    if (event.law >= 0 && changes_.switches != nullptr && changes_.switches->is_of_time(event.law))
      event.t = changes_.split ? std::max(switched_, event.t_before) : nearest_switch(event.t, event.t_before);
  const bool enters = std::ranges::any_of(
      events, [](const Event& event) { return event.kind == EventKind::sliding_entry; });
  events_.add(std::move(events), enters && leaves_at_once(scheme_, h_), is_at_start);
}

}  // namespace perp

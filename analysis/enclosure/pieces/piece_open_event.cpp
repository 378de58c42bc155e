// Events of laws while others are open, passed member by member; called by the pieces of enclosures.
#include <algorithm>
#include <cmath>

#include <perp/analysis/enclosure/pieces/piece.hpp>

namespace perp::enclosure {
namespace {

constexpr int attempts = 4;  ///< lengths of a window, each twice as long

Doubleton widened(const Doubleton& set, const Box& E) {
  Doubleton wider = set;
  const IntervalMatrix same{Matrix(Matrix::Identity(set.states(), set.states()))};
  wider.move(points(set.center()) + E, same, set.box() + E);
  return wider;
}

bool contains(const Box& outer, const Box& inner) {
  for (std::size_t i = 0; i < outer.size(); ++i)
    if (!outer[i].contains(inner[i])) return false;
  return true;
}

/// The gap of this law that falls to 0 first, by its rate now, and the last time at which a member
/// gets there; −1: none does.
int next_gap(const ModeFlow& flow, int law, double& last) {
  int first = -1;
  double earliest = directed::infinity;
  for (int k = 0; k < static_cast<int>(flow.system.gaps.size()); ++k) {
    const Interval rate = flow.jet().output(k, 1);
    if (flow.system.gaps[static_cast<std::size_t>(k)].law != law || !(rate.hi < 0)) continue;
    const Interval time = -flow.jet().output(k, 0) / rate;
    if (!(middle(time) < earliest)) continue;
    earliest = middle(time);
    last = time.hi;
    first = k;
  }
  return first;
}

/// All gaps are positive now; resets are on the side where they are.
bool watch_all(const ModeFlow& flow, std::vector<Monitor>& monitors) {
  for (int k = 0; k < static_cast<int>(flow.system.gaps.size()); ++k) {
    const int sign = certain_sign(flow.jet().output(k, 0));
    const bool is_reset = flow.system.gaps[static_cast<std::size_t>(k)].reset >= 0;
    if (is_reset ? sign == 0 : sign <= 0) return false;
    monitors.push_back({k, sign, Trend::positive});
  }
  return true;
}

/// The only successor that is proved, and no other is open; null: there is none.
const Successor* only_proved(const std::vector<Successor>& list) {
  const Successor* proved = nullptr;
  for (const Successor& one : list) {
    if (one.verdict == Verdict::refuted) continue;
    if (one.verdict == Verdict::open || proved != nullptr) return nullptr;
    proved = &one;
  }
  return proved;
}

/// The gaps that rise from 0 in a mode; nothing: the sign of one is not known there.
std::optional<std::vector<Gap>> rising_gaps(const Successor& next, const ModeSystem& system) {
  std::vector<Gap> rising;
  for (const Monitor& monitor : next.monitors) {
    if (monitor.trend == Trend::bending) return std::nullopt;
    if (monitor.trend == Trend::rising)
      rising.push_back(system.gaps[static_cast<std::size_t>(monitor.gap)]);
  }
  return rising;
}

}  // namespace

/// Rows and tube of members that have their event ahead still: in the old mode.
bool Piece::look_ahead(const Branch& branch, Inclusion& phase, ModeFlow& from, const Box& E,
                       const OpenLaws& Lambda, Ahead& ahead) {
  const auto values_at = [&](const Interval& times, Box& values) {
    Box states = from.window.box_at(times - Interval(ahead.from));
    for (std::size_t i = 0; i < states.size(); ++i) states[i] += E[i];
    return phase.observe(times, states, Lambda, values);
  };
  for (std::size_t row = branch.row; row < task_.times.size(); ++row) {
    const double t = task_.times[row];
    if (t > ahead.until) break;
    if (!values_at(Interval(t), ahead.rows[t])) return false;
  }
  if (!values_at(Interval(ahead.from, ahead.until), ahead.tube)) return false;
  ahead.tube.resize(static_cast<std::size_t>(task_.system.n()));
  ahead.modes = phase.modes();
  return true;
}

/// The set of reference solutions that meet the event where the members do: X + E, with E for the
/// time of the whole window. False: the event is not proved to be one, nothing has changed.
bool Piece::pass_open_event(Branch& branch, Inclusion& phase) {
  if (!phase.is_settled() || branch.events >= task_.options.most_events) return false;
  if (is_disturbed()) return false;  // the reference solutions hold none of the disturbances
  const Interval t(phase.t());
  const Box start = phase.set().box();
  const OpenLaws references = phase.references();
  ModeFlow& from = flows_.get(phase.mode(), t, start, references);
  if (from.system.outcome != ModeSystem::Outcome::made || from.system.roots > 1) return false;
  OpenEvent event{.branch = branch, .phase = phase, .references = references, .from = from};
  double last = 0;
  if (!from.expand(t, start, 2, false) || !watch_all(from, event.monitors)) return false;
  event.gap = next_gap(from, phase.needed(), last);
  if (event.gap < 0 || !std::isfinite(last)) return false;
  double length = std::max(1.5 * last, 4 * task_.grid);
  OpenPassage passage = OpenPassage::too_short;
  for (int k = 0; k < attempts && passage == OpenPassage::too_short; ++k, length *= 2)
    passage = pass_within(event, length);
  return passage == OpenPassage::passed;
}

/// Passes the event within a window of this length.
Piece::OpenPassage Piece::pass_within(OpenEvent& event, double length) {
  Inclusion& phase = event.phase;
  TaylorStep& window = event.from.window;
  const Interval t(phase.t());
  if (!window.prepare_window(t, phase.set().box(), t, points(phase.set().center()), length))
    return OpenPassage::refused;
  Box E, needed;
  OpenLaws Lambda;
  if (!phase.disturb(symmetric(length), window.tube_box(), E, Lambda)) return OpenPassage::refused;
  for (Interval& e : E) e = Interval(1.25) * hull(e, -e);
  const Doubleton set = widened(phase.set(), E);
  EventWindow meeting(flows_, phase.t(), set, event.from, event.monitors, event.gap, task_.grid);
  if (!meeting.locate()) return OpenPassage::refused;
  if (!phase.disturb(symmetric(meeting.radius()), window.tube_box(), needed, Lambda))
    return OpenPassage::refused;
  // X + E holds the references only if E holds their deviation over the window that was found.
  if (!contains(E, needed)) return OpenPassage::too_short;
  const Interval ahead_for(0, std::max(meeting.delta().hi, 0.0));
  Box members = window.box_at(ahead_for);
  for (std::size_t i = 0; i < members.size(); ++i) members[i] += E[i];
  if (!phase.falls_alone(t + ahead_for, members, Lambda, event.gap)) return OpenPassage::refused;
  return enter_after(event, meeting, E, Lambda) ? OpenPassage::passed : OpenPassage::refused;
}

/// Goes on in the only mode that may follow the event.
bool Piece::enter_after(OpenEvent& event, EventWindow& window, const Box& E, const OpenLaws& Lambda) {
  Inclusion& phase = event.phase;
  const std::vector<Successor> list = window.successors(Lambda);
  const Successor* next = only_proved(list);
  if (next == nullptr) return false;
  ModeFlow& to =
      flows_.get(next->mode, window.time(), window.states(), event.references, next->root);
  if (to.system.outcome != ModeSystem::Outcome::made) return false;
  Ahead ahead{.from = phase.t(), .until = window.time().hi};
  if (!look_ahead(event.branch, phase, event.from, E, Lambda, ahead))
    return false;  // before `to` is `from`
  const std::optional<Doubleton> after = window.pass(to, *next);
  if (!after) return false;
  const std::optional<std::vector<Gap>> rising = rising_gaps(*next, to.system);
  if (!rising) return false;
  Inclusion entered = phase;
  if (!entered.enter(next->mode, *after, *rising, window.time().hi)) return false;
  phase = entered;
  event.branch.ahead = ahead;
  ++event.branch.events;
  const Monitor& reached = event.monitors[static_cast<std::size_t>(event.gap)];
  note_event(event.branch, reached, event.from, to, window);
  return true;
}

/// Does an event lie between what is certain and the loss? Then once more: what is certain behind it is noted.
bool Piece::goes_again(const Branch& branch) const {
  return effort_ == Effort::last && !branch.notes_settled && branch.certain->t < branch.settled;
}

}  // namespace perp::enclosure

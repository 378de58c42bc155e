// Events of laws while others are open, passed member by member; called by the pieces of enclosures.
#include <algorithm>
#include <cmath>
#include <utility>

#include <perp/analysis/enclosure/pieces/piece.hpp>
#include <perp/schemes/events/events.hpp>

namespace perp::enclosure {
namespace {

constexpr int attempts = 4;  ///< lengths of a window, each twice as long

Doubleton widened(const Doubleton& set, const Box& E) {
  Doubleton wider = set;
  const IntervalMatrix same{Matrix(Matrix::Identity(set.states(), set.states()))};
  wider.move(points(set.center()) + E, same, set.box() + E);
  return wider;
}

/// About 0, and a little wider.
Box with_room(Box E) {
  for (Interval& e : E) e = Interval(1.25) * hull(e, -e);
  return E;
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

/// Have all members come in, and may there be one event more? Under disturbances not: the reference
/// solutions hold none of these.
bool Piece::may_pass_event(const Branch& branch, const Inclusion& phase) const {
  return phase.is_settled() && branch.events < task_.options.most_events && !is_disturbed();
}

/// The gap that falls to 0, the last time at which a member gets there, and what is watched
/// meanwhile. False: none is known, or the sign of another one is not.
bool Piece::find_gap(OpenEvent& event, double& last) {
  const Inclusion& phase = event.phase;
  if (!event.from.expand(Interval(phase.t()), phase.set().box(), 2, false)) return false;
  if (!watch_all(event.from, event.monitors)) return false;
  event.gap = next_gap(event.from, phase.needed(), last);
  return event.gap >= 0 && std::isfinite(last);
}

/// The set of reference solutions that meet the event where the members do: X + E, with E for the
/// time of the whole window. False: the event is not proved to be one, nothing has changed.
bool Piece::pass_open_event(Branch& branch, Inclusion& phase) {
  if (!may_pass_event(branch, phase)) return false;
  const OpenLaws references = phase.references();
  ModeFlow& from = flows_.get(phase.mode(), Interval(phase.t()), phase.set().box(), references);
  if (from.system.outcome != ModeSystem::Outcome::made || from.system.roots > 1) return false;
  OpenEvent event{.branch = branch, .phase = phase, .references = references, .from = from};
  double last = 0;
  if (!find_gap(event, last)) return false;
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
  E = with_room(std::move(E));
  const Doubleton set = widened(phase.set(), E);
  EventWindow meeting(flows_, phase.t(), set, event.from, event.monitors, event.gap, task_.grid);
  if (!meeting.locate()) return OpenPassage::refused;
  if (!phase.disturb(symmetric(meeting.radius()), window.tube_box(), needed, Lambda))
    return OpenPassage::refused;
  // X + E holds the references only if E holds their deviation over the window that was found.
  if (!contains(E, needed)) return OpenPassage::too_short;
  const Interval ahead_for(0, std::max(meeting.delta().hi, 0.0));
  const Box members = window.box_at(ahead_for) + E;
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

/// A law whose w went one way all the time, from before its only corner to behind it, was there
/// once.
bool Piece::note_open_crossing(const Branch& branch, const OpenLaw& open, double until) {
  const Law& law = task_.system.laws[static_cast<std::size_t>(open.law)];
  const LawGraph before = graph_over(law, open.first), after = graph_over(law, open.w);
  const auto corners = std::count_if(open.met.begin(), open.met.end(), [&](int k) {
    return law.branches[static_cast<std::size_t>(k)].b == 0;
  });
  if (open.way == 0 || branch.flag != Flag::unique || corners != 1 || open.met.size() != 3 ||
      before.branches.size() != 1 || after.branches.size() != 1)
    return false;
  EnclosureEvent event{.t = Interval(open.since, until), .branch = branch.number, .law = open.law};
  event.from = before.branches.front();
  event.to = after.branches.front();
  if (event.from == event.to) return false;
  event.type = to_string(kind_of_change(law, event.from, event.to));
  result_.enclosure.events.push_back(event);
  return true;
}

/// What may have happened to laws while they were open: one event of each kind.
void Piece::note_open_events(const Branch& branch, const std::vector<OpenLaw>& laws, double until) {
  for (const OpenLaw& open : laws) {
    const Law& law = task_.system.laws[static_cast<std::size_t>(open.law)];
    if (note_open_crossing(branch, open, until)) continue;
    std::vector<EnclosureEvent> found;
    for (const int from : open.met)
      for (const int to : open.met) {
        if (from == to) continue;
        EnclosureEvent event{.t = Interval(open.since, until), .branch = branch.number};
        event.law = open.law;
        event.type = to_string(kind_of_change(law, from, to));
        event.from = from;
        event.to = to;
        event.unique = false;
        const auto same = std::find_if(found.begin(), found.end(), [&](const EnclosureEvent& e) {
          return e.type == event.type;
        });
        if (same == found.end())
          found.push_back(event);
        else
          same->from = same->to = -1;
      }
    for (EnclosureEvent& event : found) {
      event.note = "any number of times";
      result_.enclosure.events.push_back(event);
    }
  }
}

}  // namespace perp::enclosure

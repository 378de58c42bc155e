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

// The set of reference solutions that meet the event where the members do: X + E, with E for the
// time of the whole window. False: the event is not proved to be one, nothing has changed.
bool Piece::pass_open_event(Branch& branch, Inclusion& phase) {
  if (!phase.is_settled() || branch.events >= task_.options.most_events) return false;
  if (is_disturbed()) return false;  // the reference solutions hold none of the disturbances
  const Interval t(phase.t());
  const Box start = phase.set().box();
  const OpenLaws references = phase.references();
  ModeFlow& from = flows_.get(phase.mode(), t, start, references);
  if (from.system.outcome != ModeSystem::Outcome::made || from.system.roots > 1) return false;
  std::vector<Monitor> monitors;
  double last = 0;
  if (!from.expand(t, start, 2, false) || !watch_all(from, monitors)) return false;
  const int gap = next_gap(from, phase.needed(), last);
  if (gap < 0 || !std::isfinite(last)) return false;
  double length = std::max(1.5 * last, 4 * task_.grid);
  for (int attempt = 0; attempt < attempts; ++attempt, length *= 2) {
    if (!from.window.prepare_window(t, start, t, points(phase.set().center()), length))
      return false;
    Box E, needed;
    OpenLaws Lambda;
    if (!phase.disturb(symmetric(length), from.window.tube_box(), E, Lambda)) return false;
    for (Interval& e : E) e = Interval(1.25) * hull(e, -e);
    const Doubleton set = widened(phase.set(), E);
    EventWindow window(flows_, phase.t(), set, from, monitors, gap, task_.grid);
    if (!window.locate()) return false;
    if (!phase.disturb(symmetric(window.radius()), from.window.tube_box(), needed, Lambda))
      return false;
    if (!contains(E, needed)) continue;
    const Interval ahead_for(0, std::max(window.delta().hi, 0.0));
    Box members = from.window.box_at(ahead_for);
    for (std::size_t i = 0; i < members.size(); ++i) members[i] += E[i];
    if (!phase.falls_alone(t + ahead_for, members, Lambda, gap)) return false;
    const std::vector<Successor> list = window.successors(Lambda);
    const Successor* next = nullptr;
    for (const Successor& one : list) {
      if (one.verdict == Verdict::open || (one.verdict == Verdict::proved && next != nullptr))
        return false;
      if (one.verdict == Verdict::proved) next = &one;
    }
    if (next == nullptr) return false;
    ModeFlow& to = flows_.get(next->mode, window.time(), window.states(), references,
                               next->root);
    if (to.system.outcome != ModeSystem::Outcome::made) return false;
    Ahead ahead{.from = phase.t(), .until = window.time().hi};
    if (!look_ahead(branch, phase, from, E, Lambda, ahead)) return false;  // before `to` is `from`
    const std::optional<Doubleton> after = window.pass(to, *next);
    if (!after) return false;
    std::vector<Gap> rising;
    for (const Monitor& monitor : next->monitors) {
      if (monitor.trend == Trend::bending) return false;
      if (monitor.trend == Trend::rising)
        rising.push_back(to.system.gaps[static_cast<std::size_t>(monitor.gap)]);
    }
    Inclusion entered = phase;
    if (!entered.enter(next->mode, *after, rising, window.time().hi)) return false;
    phase = entered;
    branch.ahead = ahead;
    ++branch.events;
    note_event(branch, monitors[static_cast<std::size_t>(gap)], from, to, window);
    return true;
  }
  return false;
}

/// Does an event lie between what is certain and the loss? Then once more: what is certain behind it is noted.
bool Piece::goes_again(const Branch& branch) const {
  return effort_ == Effort::last && !branch.notes_settled && branch.certain->t < branch.settled;
}

}  // namespace perp::enclosure

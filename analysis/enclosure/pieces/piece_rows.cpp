// Rows and tubes while members pass an event, each at its own time; called by the pieces of
// enclosures.
#include <algorithm>

#include <perp/analysis/enclosure/pieces/piece.hpp>

namespace perp::enclosure {
namespace {

/// At a time within a window that was prepared at t.
Box states_at(TaylorStep& window, const Doubleton& set, double t, double time) {
  const Interval tau = Interval(time) - Interval(t);
  Box F = window.centre_at(tau);
  IntervalMatrix J = window.flow_jacobian(tau);
  const Box other = window.box_at(tau);
  window.complete(Interval(time), F, J, other);
  return common(other, set.image_box(F, J));
}

/// The part of x that is at least `end` (`way` > 0), or at most; x where there is none.
Interval with_end(const Interval& x, const Interval& end, int way) {
  if (way == 0 || !end.is_bounded()) return x;
  const double lo = way > 0 ? std::max(x.lo, end.lo) : x.lo;
  const double hi = way > 0 ? x.hi : std::min(x.hi, end.hi);
  return lo <= hi ? Interval(lo, hi) : x;
}

}  // namespace

/// The tube of the step in this mode to `end`. False: a variable has no value.
bool Piece::add_tube(Branch& branch, ModeFlow& flow, double end, bool may_switch) {
  const double from = std::max(branch.t, branch.tube_from);
  if (!task_.options.tube || !(end > from)) return true;
  EnclosureRow row;
  if (!make_row(flow, Interval(from, end), flow.step.between(from, end), row)) return false;
  const TubeRow piece{from, end, branch.number, branch.flag, row.box};
  (may_switch ? branch.waiting_tube : result_.enclosure.tube).push_back(piece);
  branch.tube_from = end;
  return true;
}

/// Of members that have their event ahead its gap is m >= 0. With c in the middle and g = ∇m over
/// the box,
///     g_i (x_i − c_i) = m − S,   S = m(c) + Σ_{j ≠ i} g_j (x_j − c_j),   that is ≥ −S.
Box Piece::with_event_ahead(ModeFlow& flow, const Monitor& monitor, const Interval& t,
                            const Box& states) {
  const Box c = points(middle(states));
  const Interval side(monitor.side);
  if (!flow.expand(t, c, 1, false)) return states;
  const Interval m = side * flow.jet().output(monitor.gap, 0);
  if (!flow.expand(t, states, 1, true)) return states;
  Box g, box = states;
  for (int i = 0; i < static_cast<int>(box.size()); ++i)
    g.push_back(side * flow.jet().output_derivative(monitor.gap, i, 0));
  for (std::size_t i = 0; i < box.size(); ++i) {
    Interval S = m;
    for (std::size_t j = 0; j < box.size(); ++j)
      if (j != i) S += g[j] * (states[j] - c[j]);
    box[i] = with_end(box[i], c[i] - S / g[i], certain_sign(g[i]));
  }
  return box;
}

/// Of members that have had their event, at waiting rows: from the surface, each since its own
/// time, and from the common time, where the whole set is known.
std::map<double, Box> Piece::late_states(const Branch& branch, ModeFlow& to, const Interval& time) {
  std::map<double, Box> states;
  const Interval t(branch.t);
  double radius = 0;
  for (const EnclosureRow& row : branch.waiting) {
    if (row.t < time.lo) continue;
    states[row.t] = to.window.box_at(Interval(row.t) - time);
    radius = std::max(radius, magnitude(Interval(row.t) - t));
  }
  const Box center = points(branch.set.center());
  if (!(radius > 0) || !to.window.prepare_window(t, branch.set.box(), t, center, radius))
    return states;
  for (auto& [row, box] : states)
    box = common(box, states_at(to.window, branch.set, branch.t, row));
  return states;
}

/// Of members that have not had their event, at rows and times behind the common one: while the
/// window is still that of the old mode, which a reset may enter again.
bool Piece::note_early_states(Branch& branch, ModeFlow& from, const Monitor& reached,
                              const Interval& time) {
  for (; branch.row < task_.times.size() && task_.times[branch.row] <= time.hi; ++branch.row) {
    EnclosureRow row;
    row.branch = branch.number;
    row.flag = branch.flag;
    row.how = branch.how;
    const double t = task_.times[branch.row];
    const Box states = states_at(from.window, branch.set, branch.t, t);
    if (!make_row(from, Interval(t), with_event_ahead(from, reached, Interval(t), states), row))
      return false;
    branch.waiting.push_back(row);
  }
  if (task_.options.tube && time.hi > branch.tube_from) {
    EnclosureRow row;
    const Interval times(branch.tube_from, time.hi);
    if (!make_row(from, times, from.window.box_at(times - Interval(branch.t)), row)) return false;
    branch.waiting_tube.push_back({branch.tube_from, time.hi, branch.number, branch.flag, row.box});
    branch.tube_from = time.hi;
  }
  return true;
}

/// At times at which some members have had their event and others have not, a row holds both; at
/// times at which all have, up to the common time, what the old mode would be is left out.
bool Piece::join_rows(Branch& branch, ModeFlow& to, const Interval& time) {
  std::map<double, Box> late = late_states(branch, to, time);
  for (EnclosureRow& row : branch.waiting) {
    row.branch = branch.number;
    if (row.t < time.lo) continue;
    EnclosureRow later{.branch = branch.number, .flag = branch.flag, .how = row.how};
    if (!make_row(to, Interval(row.t), late[row.t], later)) return false;
    if (row.t > time.hi) {
      row = later;
      continue;
    }
    row.box = hull(row.box, later.box);
    row.multipliers = hull(row.multipliers, later.multipliers);
    row.modes.push_back(to.system.mode);
    row.flag = branch.flag;
  }
  return true;
}

/// The same of boxes that hold for intervals of time.
bool Piece::join_tube(Branch& branch, ModeFlow& to, const Interval& time) {
  if (!task_.options.tube) return true;
  const Interval since(time.lo, std::max(time.hi, branch.tube_from));
  EnclosureRow later;
  if (!make_row(to, since, to.window.box_at(since - time), later)) return false;
  for (TubeRow& row : branch.waiting_tube) {
    row.branch = branch.number;
    if (row.to >= time.lo) row.box = hull(row.box, later.box);
  }
  return true;
}

}  // namespace perp::enclosure

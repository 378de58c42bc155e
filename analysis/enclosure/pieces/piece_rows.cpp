// Rows and tubes while members pass an event, each at its own time; called by the pieces of enclosures.
#include <algorithm>

#include <perp/analysis/enclosure/pieces/piece.hpp>

namespace perp::enclosure {
namespace {

Box hull(const Box& a, const Box& b) {
  Box both(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) both[i] = hull(a[i], b[i]);
  return both;
}

}  // namespace

/// Of members that have had their event, at waiting rows: from the surface, each since its own time,
/// and from the common time, where the whole set is known.
std::map<double, Box> Piece::late_states(const Branch& branch, ModeFlow& to, const Interval& time) {
  std::map<double, Box> states;
  const Interval t(branch.t);
  double radius = 0;
  for (const EnclosureRow& row : branch.waiting) {
    if (!time.contains(row.t)) continue;
    states[row.t] = to.window.box_at(Interval(row.t) - time);
    radius = std::max(radius, magnitude(Interval(row.t) - t));
  }
  const Box center = points(branch.set.center());
  if (!(radius > 0) || !to.window.prepare_window(t, branch.set.box(), t, center, radius))
    return states;
  for (auto& [row, box] : states) {
    const Interval tau = Interval(row) - t;
    Box F = to.window.centre_at(tau);
    IntervalMatrix J = to.window.flow_jacobian(tau);
    const Box other = to.window.box_at(tau);
    to.window.complete(Interval(row), F, J, other);
    box = common(common(box, other), branch.set.image_box(F, J));
  }
  return states;
}

/// Of members that have not had their event, at rows and times behind the common one: while the
/// window is still that of the old mode, which a reset may enter again.
bool Piece::note_early_states(Branch& branch, ModeFlow& from, const Interval& time) {
  for (; branch.row < task_.times.size() && task_.times[branch.row] <= time.hi; ++branch.row) {
    EnclosureRow row;
    row.branch = branch.number;
    row.flag = branch.flag;
    row.how = branch.how;
    const double t = task_.times[branch.row];
    const Box states = from.window.box_at(Interval(t) - Interval(branch.t));
    if (!make_row(from, Interval(t), states, row)) return false;
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

/// At times at which some members have had their event and others have not, a row holds both.
bool Piece::join_rows(Branch& branch, ModeFlow& to, const Interval& time) {
  std::map<double, Box> late = late_states(branch, to, time);
  for (EnclosureRow& row : branch.waiting) {
    row.branch = branch.number;
    if (!time.contains(row.t)) continue;
    EnclosureRow later;
    if (!make_row(to, Interval(row.t), late[row.t], later)) return false;
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
  EnclosureRow later;
  if (!make_row(to, time, to.window.box_at(time - time), later)) return false;
  for (TubeRow& row : branch.waiting_tube) {
    row.branch = branch.number;
    if (row.to >= time.lo) row.box = hull(row.box, later.box);
  }
  return true;
}

}  // namespace perp::enclosure

// The last time at which a piece was certain of its mode, and the way back to it: called by the pieces of enclosures.
#include <perp/analysis/enclosure/pieces/piece.hpp>

namespace perp::enclosure {

/// Is it certain now that all members are in the mode, and is no event under way? Then what waited
/// for one was before it.
void Piece::note_certain(Branch& branch, const ModeFlow& flow) {
  if (branch.t < branch.settled || branch.t >= task_.span.end) return;
  for (const Monitor& monitor : branch.monitors)
    if (monitor.trend != Trend::positive &&
        certain_sign(gap_range(flow.step, monitor, 0, Interval(0), branch.set)) <= 0)
      return;
  flush(branch);
  branch.certain = Certain{.t = branch.t,
                           .set = branch.set,
                           .mode = branch.mode,
                           .root = branch.root,
                           .implicit = branch.implicit,
                           .monitors = branch.monitors,
                           .flag = branch.flag,
                           .how = branch.how,
                           .row = branch.row,
                           .rows = result_.enclosure.rows.size(),
                           .tube = result_.enclosure.tube.size(),
                           .events = result_.enclosure.events.size(),
                           .open = open_.size(),
                           .tube_from = branch.tube_from};
  for (Monitor& monitor : branch.certain->monitors) monitor.trend = Trend::positive;
}

bool Piece::take_back(Branch& branch) {
  if (!branch.certain) return false;
  const Certain& known = *branch.certain;
  branch.t = known.t;
  branch.set = known.set;
  branch.mode = known.mode;
  branch.root = known.root;
  branch.implicit = known.implicit;
  branch.monitors = known.monitors;
  branch.flag = known.flag;
  branch.how = known.how;
  branch.row = known.row;
  branch.tube_from = known.tube_from;
  branch.waiting.clear();
  branch.waiting_tube.clear();
  result_.enclosure.rows.resize(known.rows);
  result_.enclosure.tube.resize(known.tube);
  result_.enclosure.events.resize(known.events);
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(known.open), open_.end());
  return true;
}

}  // namespace perp::enclosure

// Which interval of the start is bisected when a piece is lost or too wide; called by the pieces of
// enclosures.
#include <perp/analysis/enclosure/pieces/piece.hpp>

namespace perp::enclosure {
namespace {

void add(std::vector<bool>& all, const std::vector<bool>& some) {
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = all[i] || some[i];
}

}  // namespace

/// The interval of the start that widens the others most, of those that act on these states; none
/// where its bisection would change nothing of them.
void Piece::note_split(const Branch& branch, const std::vector<bool>& states) {
  result_.split = widest_start(branch.set.smear(states, task_.widest));
}

/// The states that the way of a gap depends on.
std::vector<bool> Piece::acting_states(const Branch& branch, const Interval& t, int gap) {
  const ModeFlow& flow = flows_.get(branch.mode, t, branch.set.box(), branch.root);
  return states_acting_on(flow.system.flow,
                          flow.system.flow.outputs[static_cast<std::size_t>(gap)]);
}

/// The same, and of the gaps that are falling: ends that may be met at nearly one time are told
/// apart by intervals that act on either.
std::vector<bool> Piece::undecided_states(const Branch& branch, const Interval& t, int gap) {
  std::vector<bool> states = acting_states(branch, t, gap);
  for (const Monitor& monitor : branch.monitors)
    if (monitor.trend == Trend::falling) add(states, acting_states(branch, t, monitor.gap));
  return states;
}

/// The states that decide which mode is next: those that act on the signs that are not known, and
/// on when it is asked. None where every mode is refuted: no part of the set has one then.
std::vector<bool> Piece::deciding_states(const std::vector<Successor>& list,
                                         const std::vector<bool>& reached) {
  std::vector<bool> states(start_.size(), false);
  for (const Successor& next : list) {
    if (next.verdict != Verdict::open) continue;
    if (next.open_gaps.empty()) return std::vector<bool>(start_.size(), true);
    add(states, reached);
    const Interval t(task_.span.start);
    const Flow& flow = flows_.get(next.mode, t, start_, next.root).system.flow;
    for (const int gap : next.open_gaps)
      add(states, states_acting_on(flow, flow.outputs[static_cast<std::size_t>(gap)]));
  }
  return states;
}

void Piece::note_width(const Branch& branch, ModeFlow& flow) {
  widths_.note(branch.set, branch.row - 1,
               computed_widths(flow, computed_, Interval(branch.t), branch.set));
  result_.excess = widths_.excess();
  if (result_.excess > task_.options.share) note_split(branch, widths_.wide());
}

/// The same while laws are open; not under disturbances, which widen every part alike. Variables
/// that are computed hold all that the laws allow, whatever the part.
void Piece::note_open_width(const Inclusion& phase, std::size_t row) {
  if (is_disturbed()) return;
  widths_.note(phase.set(), row, std::vector<ComputedWidth>(computed_.size()));
  result_.excess = widths_.excess();
  if (result_.excess > task_.options.share)
    result_.split = widest_start(phase.set().smear(widths_.wide(), task_.widest));
}

}  // namespace perp::enclosure

// Which interval of the start is bisected when a piece is lost or too wide; called by the pieces of enclosures.
#include <algorithm>

#include <perp/analysis/enclosure/piece.hpp>

namespace perp::enclosure {
namespace {

constexpr double rounding_share = 0x1p-30;

void add(std::vector<bool>& all, const std::vector<bool>& some) {
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = all[i] || some[i];
}

}  // namespace

/// The interval of the start that widens the others most, of those that act on these states; none
/// where its bisection would change nothing of them.
void Piece::note_split(const Branch& branch, const std::vector<bool>& states) {
  const std::vector<double> smear = branch.set.smear(states);
  const auto most = std::max_element(smear.begin(), smear.end());
  result_.split = most != smear.end() && *most > 0 ? static_cast<int>(most - smear.begin()) : -1;
}

/// The states that the way of a gap depends on.
std::vector<bool> Piece::acting_states(const Branch& branch, const Interval& t, int gap) {
  const ModeFlow& flow = flows_.get(branch.mode, t, branch.set.box(), branch.root);
  return states_acting_on(flow.system.flow,
                          flow.system.flow.outputs[static_cast<std::size_t>(gap)]);
}

/// The states that decide which mode is next: those that act on the signs that are not known, and on
/// when it is asked. None where every mode is refuted: no part of the set has one then.
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

/// What the set is wider than the linear image of the start, as a share of the largest width of
/// that state at any row so far, or of the whole set's: it is the hull of all pieces that is asked for.
/// Widths of rounding are no reason to bisect.
void Piece::note_width(const Branch& branch) {
  const Box& box = branch.set.box();
  const Box image = branch.set.linear_image();
  widest_.resize(box.size(), 0);
  is_wide_.resize(box.size(), false);
  for (std::size_t i = 0; i < box.size(); ++i) {
    const double whole = width(box[i]);
    widest_[i] = std::max(widest_[i], whole);
    // what no interval of the start acts on is as wide in every part
    if (!(whole > rounding_share * magnitude(box[i])) || !branch.set.is_spread(static_cast<int>(i)))
      continue;
    const double measure =
        task_.reach.empty() ? widest_[i] : std::max(widest_[i], task_.reach[branch.row - 1][i]);
    const double excess = (whole - width(image[i])) / measure;
    result_.excess = std::max(result_.excess, excess);
    if (excess > task_.options.share) is_wide_[i] = true;
  }
  if (result_.excess > task_.options.share) note_split(branch, is_wide_);
}

}  // namespace perp::enclosure

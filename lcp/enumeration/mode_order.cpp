#include <cmath>

#include <perp/lcp/enumeration/mode_tree.hpp>

namespace perp {

/// The law to decide next: one with a single branch; else the one with the fewest ways out, so that
/// the tree is narrow. A row outside of its range must be moved back by one of the parameters that
/// can do so: the fewer they are, the more is known; the law of the strongest is taken. A w that no
/// parameter can bring to 0 leaves its law one branch less.
int ModeTree::next_law(const Level& level) const {
  int law = -1;
  for (const int i : order_)
    if (!decided_[static_cast<std::size_t>(i)]) {
      law = i;
      break;
    }
  if (laws_[static_cast<std::size_t>(law)].all.size() == 1) return law;
  int fewest = level.columns + 1;
  for (int r = 0; r < level.rows && fewest > 1; ++r) {
    const double constant = level.row(r)[level.columns];
    const Range& range = level.range[static_cast<std::size_t>(r)];
    const int quantity = level.quantity[static_cast<std::size_t>(r)];
    const bool inside = constant >= range.lower && constant <= range.upper;
    const bool wanted_up = inside ? constant < 0 : constant < range.lower;
    if (inside && (quantity >= m_ || decided_[static_cast<std::size_t>(quantity)])) continue;
    const auto [ways, strongest] = ways_to_move(level, r, wanted_up ? 1 : -1, inside ? 1 : fewest);
    if (inside && ways == 0) {
      fewest = 1;
      law = quantity;
    } else if (!inside && ways < fewest && strongest >= 0) {
      fewest = ways;
      law = strongest;
    }
  }
  return law;
}

/// Number of parameters (counted up to a limit) that can move a row in a direction, and the
/// undecided law of the one with the largest coefficient, -1 if none has one.
std::pair<int, int> ModeTree::ways_to_move(const Level& level, int r, double direction,
                                           int limit) const {
  const double* row = level.row(r);
  int ways = 0, strongest = -1;
  double largest = 0;
  for (int j = 0; j < level.columns && ways < limit; ++j) {
    const double coefficient = direction * row[j];
    const Range& range = level.column_range[static_cast<std::size_t>(j)];
    if (!(coefficient > 0 ? range.upper > 0 : coefficient < 0 && range.lower < 0)) continue;
    ++ways;
    const int owner = level.owner[static_cast<std::size_t>(j)];
    if (owner < 0 || decided_[static_cast<std::size_t>(owner)]) continue;
    if (const double size = std::abs(coefficient); size > largest) {
      largest = size;
      strongest = owner;
    }
  }
  return {ways, strongest};
}

}  // namespace perp

#include <algorithm>
#include <cmath>

#include <perp/lcp/enumeration/mode_tree.hpp>

// What the laws of the tree of modes leave to decide, and which one is decided next.

namespace perp {
namespace {

Range hull(const Range& a, const Range& b) {
  return {std::min(a.lower, b.lower), std::max(a.upper, b.upper)};
}

Range intersection(const Range& a, const Range& b) {
  return {std::max(a.lower, b.lower), std::min(a.upper, b.upper)};
}

/// Image of a range under x -> (c - factor x) / divisor.
Range image(const Range& range, double c, double factor, double divisor) {
  const double first = (c - factor * range.lower) / divisor;
  const double second = (c - factor * range.upper) / divisor;
  return {std::min(first, second), std::max(first, second)};
}

/// 1: a value has to rise to come into its range, -1: to fall, 0: it is there.
double way_back(double value, const Range& range) {
  if (value >= range.lower && value <= range.upper) return 0;
  return value < range.lower ? 1 : -1;
}

/// Can a parameter, from 0 within its range, raise what it has this coefficient in?
bool can_raise(double coefficient, const Range& range) {
  return coefficient > 0 ? range.upper > 0 : coefficient < 0 && range.lower < 0;
}

}  // namespace

ModeTree::Choices ModeTree::choices_of(const Law& law) {
  Choices choices{{}, {inf, -inf}, {inf, -inf}};
  for (const Branch& branch : law.branches) {
    Choice choice{Kind::sloped, 0, branch.a, branch.b, branch.c, {}};
    Range w = branch.w, lambda = branch.lambda;
    if (branch.a == 0) {
      choice.kind = Kind::lambda_fixed;
      choice.value = branch.c / branch.b;
      lambda = {choice.value, choice.value};
      choice.watched = w;
    } else if (branch.b == 0) {
      choice.kind = Kind::w_fixed;
      choice.value = branch.c / branch.a;
      w = {choice.value, choice.value};
      choice.watched = lambda;
    } else {
      lambda = intersection(lambda, image(w, branch.c, branch.a, branch.b));
      w = intersection(w, image(lambda, branch.c, branch.b, branch.a));
      choice.watched = lambda;
    }
    choices.w = hull(choices.w, w);
    choices.lambda = hull(choices.lambda, lambda);
    choices.all.push_back(choice);
  }
  return choices;
}

/// The law to decide next: one with a single branch; else the one with the fewest ways out, so that
/// the tree is narrow. A row outside of its range must be moved back by one of the parameters that
/// can do so: the fewer they are, the more is known; the law of the strongest is taken. A w that no
/// parameter can bring to 0 leaves its law one branch less.
int ModeTree::next_law(const Level& level) const {
  int law = *std::find_if(order_.begin(), order_.end(),
                          [&](int i) { return !decided_[static_cast<std::size_t>(i)]; });
  if (laws_[static_cast<std::size_t>(law)].all.size() == 1) return law;
  int fewest = level.columns + 1;
  for (int r = 0; r < level.rows && fewest > 1; ++r) {
    const double direction =
        way_back(level.row(r)[level.columns], level.range[static_cast<std::size_t>(r)]);
    if (direction == 0) {
      if (is_kept_off_zero(level, r)) return level.quantity[static_cast<std::size_t>(r)];
      continue;
    }
    const auto [ways, strongest] = ways_to_move(level, r, direction, fewest);
    if (ways >= fewest || strongest < 0) continue;
    fewest = ways;
    law = strongest;
  }
  return law;
}

/// Is the row, which is in its range, a w of an undecided law that no parameter can bring to 0?
bool ModeTree::is_kept_off_zero(const Level& level, int r) const {
  const int quantity = level.quantity[static_cast<std::size_t>(r)];
  if (quantity >= m_ || decided_[static_cast<std::size_t>(quantity)]) return false;
  const double towards_zero = level.row(r)[level.columns] < 0 ? 1 : -1;
  return ways_to_move(level, r, towards_zero, 1).first == 0;
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
    if (!can_raise(coefficient, range)) continue;
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

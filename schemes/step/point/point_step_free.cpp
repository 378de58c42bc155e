// Modes in which a multiplier is in no equation, and the law that is its own says 0 = 0: the potential of a part of a
// circuit that all of its diodes cut off. What its mode determines is that of the other equations; the ends of branches
// that read it leave it some room, or none.
#include <algorithm>
#include <cmath>
#include <functional>

#include <perp/core/base/index.hpp>
#include <perp/lcp/exact/double_double.hpp>
#include <perp/schemes/step/point/point_step.hpp>

namespace perp {

/// Lists the free multipliers of the mode, which are held at 0 from here. False: there is none, or a law reads several.
bool PointStep::find_free() {
  free_of_.assign(at(m_), -1);
  held_.resize(at(m_));
  for (int i = 0; i < m_; ++i)
    if (branch(i).a != 0 && branch(i).b == 0 && is_in_no_equation(i) && has_no_argument(i)) free_.push_back(i);
  if (!std::ranges::all_of(free_, [this](int free) { return list_readers(free); })) return false;
  for (const int free : free_) {
    held_[at(free)] = {0, 1, 0, branch(free).ends};
    present_[at(free)] = &held_[at(free)];
  }
  return !free_.empty();
}

/// The laws that read a free multiplier, its own too. False: one reads another, too.
bool PointStep::list_readers(int free) {
  for (int i = 0; i < m_; ++i) {
    if (i != free && factor_of(i, free) == 0) continue;
    if (free_of_[at(i)] >= 0) return false;
    free_of_[at(i)] = free;
  }
  return true;
}

bool PointStep::is_in_no_equation(int law) const {
  for (int i = 0; i < size_; ++i) {
    bool is_read = false;
    if (i < n_ || branch(i - n_).a != 0)
      rows_.for_each(i, [&](const Entry& entry) { is_read = is_read || (entry.column == n_ + law && entry.high != 0); });
    if (is_read) return false;
  }
  return true;
}

/// Does the law hold its argument at a value that it does not have, where that is made of multipliers alone which their
/// branches hold?
bool PointStep::contradicts(int law) const {
  const ScaledBranch& own = branch(law);
  if (own.a == 0 || own.b != 0) return false;
  const int row = n_ + law;
  DoubleDouble argument{r_[at(row)], r_low_[at(row)]};
  double terms = r_terms_[at(row)];
  bool is_given = true;
  rows_.for_each(row, [&](const Entry& entry) {
    is_given = is_given && entry.column >= n_ && branch(entry.column - n_).a == 0;
    if (!is_given) return;
    const double held = branch(entry.column - n_).c;
    argument = argument + two_product(entry.high, held);
    terms += std::abs(entry.high * held);
  });
  const double distance = std::abs((argument * own.a - DoubleDouble{own.c, 0}).high);
  return is_given && distance > 64 * unit_roundoff * (std::abs(own.a) * terms + std::abs(own.c));
}

/// Is w = 0, whatever the state: is it made of multipliers alone that their branches hold at 0?
bool PointStep::has_no_argument(int law) const {
  bool is_none = branch(law).c == 0;
  rows_.for_each(n_ + law, [&](const Entry& entry) {
    is_none = is_none && (is_held_at_0(entry.column) || entry.high == 0);
  });
  right_.for_each(n_ + law, [&](const Entry& entry) { is_none = is_none && entry.high == 0; });
  return is_none;
}

/// Of a free multiplier in the argument of a law.
double PointStep::factor_of(int law, int free) const {
  double factor = 0;
  rows_.for_each(n_ + law, [&](const Entry& entry) {
    if (entry.column == n_ + free) factor = entry.high / (row_scale_[at(n_ + law)] * column_scale_[at(n_ + free)]);
  });
  return factor;
}

std::vector<PointStep::Side> PointStep::sides_of(int free) const {
  std::vector<Side> sides;
  sides.reserve(at(2 * m_));
  for (int i = 0; i < m_; ++i) {
    if (free_of_[at(i)] != free) continue;
    const double factor = i == free ? 1 : factor_of(i, free);
    for (const ScaledBranch::End& any : branch(i).ends) {
      const ScaledBranch::End end = any.of(i);
      sides.push_back({end, end.margin.upper ? -factor : factor, distance_of(end)});
    }
  }
  return sides;
}

/// Does one end hold the multiplier from below and the other from above, and is one of them no end of its own law?
bool PointStep::hold_from_both_sides(int free, const Side& below, const Side& above) {
  const bool is_own = below.end.margin.law == free && above.end.margin.law == free;
  return below.slope > 0 && above.slope < 0 && !is_own;
}

PointStep::Verdict PointStep::judge_free(int free, const std::vector<Side>& sides) {
  Verdict verdict = Verdict::inside;
  for (const Side& below : sides)
    for (const Side& above : sides) {
      if (!hold_from_both_sides(free, below, above)) continue;
      const Verdict of_pair = below.end.margin.law == free ? judge_pair(above, below) : judge_pair(below, above);
      if (of_pair == Verdict::undecided) return of_pair;
      if (of_pair == Verdict::outside) verdict = of_pair;
    }
  return verdict;
}

/// The room between two ends, in units of the multiplier: in the sum of the distances over their slopes it drops out.
PointStep::Verdict PointStep::judge_pair(const Side& first, const Side& second) {
  const double share = 1 / std::abs(first.slope), share_with = 1 / std::abs(second.slope);
  const DoubleDouble room = first.distance * share + second.distance * share_with;
  const double rounding = 8 * unit_roundoff * (std::abs(first.distance.high) * share + std::abs(second.distance.high) * share_with);
  const auto sum = [&](double of_first, double of_second) { return of_first * share + of_second * share_with; };
  Margin& margin = margins_.emplace_back(Margin{first.end.margin, room.high, false, share, second.end.margin, share_with});
  margin.end.combined = margin.with.combined = true;
  const auto find_rows = [&] {
    find_row(first.end);
    const double sign = first.end.margin.upper ? -share : share, sign_with = second.end.margin.upper ? -share_with : share_with;
    std::vector<double> row = row_;
    find_row(second.end);
    for (std::size_t j = 0; j < row.size(); ++j) row_[j] = sign * row[j] + sign_with * row_[j];
  };
  return judge_margin(margin, sum(2 * error_of(first.end), 2 * error_of(second.end)) + rounding,
                      sum(spread_of(first.end), spread_of(second.end)), std::cref(find_rows));
}

/// The side that holds a free multiplier which is as near to 0 as the ends allow, see `Elimination::choose`; null: none.
const PointStep::Side* PointStep::holding(const std::vector<Side>& sides) {
  const Side* holds = nullptr;
  double value = 0;
  for (const bool upper : {false, true})
    for (const Side& side : sides) {
      const double end = side.end_of_multiplier();
      if ((side.slope < 0) != upper || (upper ? end >= value : end <= value)) continue;
      value = end;
      holds = &side;
    }
  return holds;
}

/// A law whose end holds it is on that end.
void PointStep::choose_free(int free, const std::vector<Side>& sides) {
  const Side* const holds = holding(sides);
  if (holds == nullptr) return;
  lambda_[free] = holds->end_of_multiplier();
  for (int i = 0; i < m_; ++i) {
    if (i == free || free_of_[at(i)] != free) continue;
    w_[i] = (DoubleDouble{w_[i], w_low_[at(i)]} + two_product(factor_of(i, free), lambda_[free])).high;
  }
  if (const int law = holds->end.margin.law; law != free) w_[law] = holds->end.bound.bound.high;
}

}  // namespace perp

// Tells jumps from roots of the step's equations that go to infinity as the step gets shorter.
#include <algorithm>
#include <cmath>

#include <perp/schemes/leaps.hpp>
#include <perp/schemes/safeguard.hpp>

namespace perp {
namespace {

constexpr std::size_t least_leaps = 3;  ///< that show the growth of what a step moves
constexpr std::size_t many_leaps = 8;   ///< that grow one after the other by no chance
constexpr double many_growth = 2;       ///< of these: a jump grows by rounding over its last ulps of t
constexpr double far_growth = 0x1p16;   ///< of fewer

/// Three of the leaps: of the longest step, of one in the middle, as far as there is one, and of the shortest; how many
/// powers of two lie between the lengths.
struct ThreeLeaps {
  const Leap &first, &middle, &last;
  double longer, shorter;
};

ThreeLeaps three_of(const std::vector<Leap>& leaps) {
  const Leap &first = leaps.front(), &last = leaps.back();
  const double half = std::sqrt(first.length * last.length);
  const auto distance = [&](const Leap& leap) { return std::abs(std::log2(leap.length / half)); };
  const Leap& middle = *std::min_element(
      leaps.begin(), leaps.end(),
      [&](const Leap& a, const Leap& b) { return distance(a) < distance(b); });
  return {first, middle, last, std::log2(first.length / middle.length), std::log2(middle.length / last.length)};
}

/// Does this row grow with each shorter step, by more than its rounding, and by no less in the shorter ones?
bool row_grows(const std::vector<Leap>& leaps, const ThreeLeaps& of, Eigen::Index row, double rounding) {
  const auto size = [row](const Leap& leap) { return std::abs(leap.motion[row]); };
  const double growth = size(of.last) - size(of.middle), before = size(of.middle) - size(of.first);
  const double least = leaps.size() >= many_leaps ? many_growth : far_growth;
  const bool is_far = size(of.last) > least * size(of.first);
  const bool is_seen = growth > std::max(rounding, jump_share * size(of.last)) && before > 0;
  const auto is_smaller = [&](const Leap& a, const Leap& b) { return size(a) < size(b); };
  return is_far && is_seen && growth / of.shorter >= before / of.longer / 2 &&
         std::is_sorted(leaps.begin(), leaps.end(), is_smaller);
}

}  // namespace

bool grow_without_bound(const std::vector<Leap>& leaps, const Vector& rounding) {
  if (leaps.size() < least_leaps) return false;
  const ThreeLeaps three = three_of(leaps);
  if (!(three.longer > 0 && three.shorter > 0)) return false;
  for (Eigen::Index i = 0; i < rounding.size(); ++i)
    if (row_grows(leaps, three, i, rounding[i])) return true;
  return false;
}

}  // namespace perp

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

}  // namespace

bool grow_without_bound(const std::vector<Leap>& leaps, const Vector& rounding) {
  if (leaps.size() < least_leaps) return false;
  const Leap &first = leaps.front(), &last = leaps.back();
  // The one in the middle of both, as far as there is one.
  const double half = std::sqrt(first.length * last.length);
  const auto distance = [&](const Leap& leap) { return std::abs(std::log2(leap.length / half)); };
  const Leap& middle = *std::min_element(
      leaps.begin(), leaps.end(),
      [&](const Leap& a, const Leap& b) { return distance(a) < distance(b); });
  const double longer = std::log2(first.length / middle.length);
  const double shorter = std::log2(middle.length / last.length);
  if (!(longer > 0 && shorter > 0)) return false;
  for (Eigen::Index i = 0; i < rounding.size(); ++i) {
    const auto size = [i](const Leap& leap) { return std::abs(leap.motion[i]); };
    const double growth = size(last) - size(middle), before = size(middle) - size(first);
    const double least = leaps.size() >= many_leaps ? many_growth : far_growth;
    const bool is_far = size(last) > least * size(first);
    const bool is_seen = growth > std::max(rounding[i], jump_share * size(last)) && before > 0;
    const auto is_smaller = [&](const Leap& a, const Leap& b) { return size(a) < size(b); };
    if (is_far && is_seen && growth / shorter >= before / longer / 2 &&
        std::is_sorted(leaps.begin(), leaps.end(), is_smaller))
      return true;
  }
  return false;
}

}  // namespace perp

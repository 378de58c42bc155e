#pragma once

#include <algorithm>

#include <perp/lcp/exact/decided_sign.hpp>
#include <perp/lcp/polyhedra/mode_polyhedron.hpp>

namespace perp {

/// Where a point stands to a branch of a law. Inside: on the branch away from the ends of its
/// ranges, and on no other branch of the law.
enum class Verdict { outside, inside, undecided };

/// Where a value stands to a range; a touched end is undecided.
template <class Scalar>
Verdict stands(const Interval<Scalar>& range, const Scalar& value) {
  Verdict verdict = Verdict::inside;
  for (const bool is_lower : {true, false}) {
    const std::optional<Scalar>& end = is_lower ? range.lower : range.upper;
    if (!end) continue;
    const int side = decided_sign(is_lower ? value - *end : *end - value);
    if (side < 0) return Verdict::outside;
    if (side == 0) verdict = Verdict::undecided;
  }
  return verdict;
}

/// Where a value stands to a range whose ends belong to it.
enum class Membership { no, yes, undecided };

template <class Scalar>
Membership membership(const Interval<Scalar>& range, const Scalar& value) {
  Membership worst = Membership::yes;
  for (const bool is_lower : {true, false}) {
    const std::optional<Scalar>& end = is_lower ? range.lower : range.upper;
    if (!end) continue;
    const Scalar beyond = is_lower ? value - *end : *end - value;
    const int side = decided_sign(beyond);
    if (side < 0) return Membership::no;
    if (side == 0 && !is_zero(beyond)) worst = Membership::undecided;
  }
  return worst;
}

/// The verdict over a point that satisfies the branch's equation.
template <class Scalar>
Verdict stands(const std::vector<LawBranch<Scalar>>& law, int branch, const Scalar& w,
               const Scalar& lambda) {
  const auto in_ranges = [&](const LawBranch<Scalar>& of) {
    Verdict worst = Verdict::inside;
    if (!is_zero(of.b)) worst = stands(of.w, w);
    if (worst == Verdict::outside || is_zero(of.a)) return worst;
    const Verdict other = stands(of.lambda, lambda);
    return other == Verdict::inside ? worst : other;
  };
  Verdict verdict = in_ranges(law[static_cast<std::size_t>(branch)]);
  for (std::size_t k = 0; k < law.size() && verdict == Verdict::inside; ++k) {
    if (static_cast<int>(k) == branch) continue;
    const bool off_line = decided_sign(law[k].a * w + law[k].b * lambda - law[k].c) != 0;
    if (!off_line && in_ranges(law[k]) != Verdict::outside) verdict = Verdict::undecided;
  }
  return verdict;
}

/// Is each entry known to this share of itself?
template <class Real>
bool is_precise(const std::vector<Bounded<Real>>& y, double share) {
  return std::all_of(y.begin(), y.end(), [&](const Bounded<Real>& value) {
    return value.error <= share * std::abs(value.value);
  });
}

}  // namespace perp

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

/// Does it belong to both?
inline Membership meet(Membership a, Membership b) {
  if (a == Membership::no || b == Membership::no) return Membership::no;
  return a == Membership::undecided ? a : b;
}

/// Of (w, λ) in the ranges of a branch.
template <class Scalar>
Membership in_ranges(const LawBranch<Scalar>& branch, const Scalar& w, const Scalar& lambda) {
  const Membership of_w = is_zero(branch.b) ? Membership::yes : membership(branch.w, w);
  const Membership of_lambda =
      is_zero(branch.a) ? Membership::yes : membership(branch.lambda, lambda);
  return meet(of_w, of_lambda);
}

/// Of (w, λ) on the line a w + b λ = c of a branch.
template <class Scalar>
Membership on_line(const LawBranch<Scalar>& branch, const Scalar& w, const Scalar& lambda) {
  const Scalar line = branch.a * w + branch.b * lambda - branch.c;
  if (decided_sign(line) != 0) return Membership::no;
  return is_zero(line) ? Membership::yes : Membership::undecided;
}

/// Where (w, λ) stands to the ranges of a branch.
template <class Scalar>
Verdict stands_in_ranges(const LawBranch<Scalar>& branch, const Scalar& w, const Scalar& lambda) {
  const Verdict of_w = is_zero(branch.b) ? Verdict::inside : stands(branch.w, w);
  if (of_w == Verdict::outside || is_zero(branch.a)) return of_w;
  const Verdict of_lambda = stands(branch.lambda, lambda);
  return of_lambda == Verdict::inside ? of_w : of_lambda;
}

/// The verdict over a point that satisfies the branch's equation.
template <class Scalar>
Verdict stands(const std::vector<LawBranch<Scalar>>& law, int branch, const Scalar& w,
               const Scalar& lambda) {
  Verdict verdict = stands_in_ranges(law[static_cast<std::size_t>(branch)], w, lambda);
  for (std::size_t k = 0; k < law.size() && verdict == Verdict::inside; ++k) {
    if (static_cast<int>(k) == branch) continue;
    const bool off_line = decided_sign(law[k].a * w + law[k].b * lambda - law[k].c) != 0;
    if (!off_line && stands_in_ranges(law[k], w, lambda) != Verdict::outside)
      verdict = Verdict::undecided;
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

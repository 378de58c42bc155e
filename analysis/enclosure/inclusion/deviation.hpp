#pragma once

#include <perp/analysis/enclosure/interval_matrix.hpp>

namespace perp::enclosure {

/// e(h) of all solutions of
///     e' = A(t) e + B(t) v(t),   e(0) = 0
/// with measurable A(t), B(t), v(t) within A, B, v, that are known to have e(s) ∈ s D for 0 ≤ s ≤ h:
///     e(h) ∈ ∫_0^h K(τ) v(h − τ) dτ + h^(p+1)/(p+1)! A^p D,   K(τ) ∈ Σ_{k < p} τ^k/k! A^k B.
/// Where an entry of K has one sign, v may be taken at its ends all the time: the bound is attained
/// where A and B are points, but for the last term.
Box deviation(const IntervalMatrix& A, const IntervalMatrix& B, const Box& v, const Box& D,
              const Interval& h);

}  // namespace perp::enclosure

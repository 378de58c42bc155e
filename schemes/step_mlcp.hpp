#pragma once

#include <perp/core/lcs.hpp>
#include <perp/lcp/mlcp.hpp>
#include <perp/lcp/solution_set.hpp>

namespace perp {

/// The problem of one backward Euler step of length h from x at t: u = x⁺.
Mlcp step_problem(const Lcs& lcs, const Vector& x, double t, double h);

/// The norm that [RAB] eq. (31) minimises for that step: W = [E 0], center = (x, 0).
Norm step_norm(const Lcs& lcs, const Vector& x);

}  // namespace perp

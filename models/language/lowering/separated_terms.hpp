#pragma once

#include <vector>

#include <perp/core/dcs.hpp>

namespace perp::lowering {

/// Makes a multiplier of each part of a sum beside which another one would lose its digits where terms are collected: of
///     0 = ẋ − 1 + K (x + y − 1),   0 = ẏ − 2 x + y + K (x + y − 1)
/// with K = 1e16 the coefficient 2 − K of x is −K in doubles, and so the sum of both constants. With λ = x + y − 1 as a law
/// of its own (`separated_term`) every coefficient is what the file says. Of affine systems coefficients are kept and solved
/// with exactly, so that only what their sum loses counts; elsewhere elimination rounds beside the larger one.
/// Renames `others`, lines of the tape besides those of F and G.
void separate_terms(Dcs& system, std::vector<int>& others);

}  // namespace perp::lowering

#pragma once

#include <cstddef>
#include <string>

#include <perp/lcp/parametric/mode_map.hpp>

namespace perp {

/// How the graph of a law runs: λ never falls with w, never rises with it, or neither.
enum class Monotonicity { rising, falling, neither };

Monotonicity monotonicity(const Law& law);

/// A certificate that the problem has at most one solution whatever q1 and q2 are: every law is
/// monotone, M11 is regular, and with M = M22 - M21 M11⁻¹ M12 and s_i = ±1 for falling and rising
/// laws the symmetric part of diag(s) M is positive definite. For two solutions Σ s_i Δw_i Δλ_i ≤ 0
/// by the laws but > 0 by the matrix. False proves nothing.
/// What is said holds for the exact data: M has bounds of its errors, laws are compared exactly.
bool has_at_most_one_solution(const Mlcp& problem);
/// The same for every θ of a family, with what rounding took from its entries.
bool has_at_most_one_solution(const ParametricMlcp& family);

/// The size of a search in the texts of certificates, e.g. "3 laws in 1 block".
std::string laws_in_blocks(int laws, std::size_t blocks);

}  // namespace perp

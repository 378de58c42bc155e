#pragma once

#include <perp/lcp/mlcp.hpp>

namespace perp {

/// The linear equations of one mode in y = (u, λ), K y = r:
///     M11 u + M12 λ = -q1,    a_i (M21 u + M22 λ + q2)_i + b_i λ_i = c_i   branch by branch
Matrix mode_matrix(const Mlcp& problem, const Mode& mode);    // (p+m)×(p+m)
Vector mode_constant(const Mlcp& problem, const Mode& mode);  // p+m

}  // namespace perp

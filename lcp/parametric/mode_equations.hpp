#pragma once

#include <optional>
#include <vector>

#include <perp/lcp/mlcp.hpp>

namespace perp {

struct ParametricMlcp;
struct BoundedMatrix;

/// The linear equations of one mode in y = (u, λ), K y = r:
///     M11 u + M12 λ = -q1,    a_i (M21 u + M22 λ + q2)_i + b_i λ_i = c_i   branch by branch
Matrix mode_matrix(const Mlcp& problem, const Mode& mode);    // (p+m)×(p+m)
Vector mode_constant(const Mlcp& problem, const Mode& mode);  // p+m

/// The only solution y of these equations, each entry the double nearest to it or next to that; an entry
/// of 0 is one of `zeros` (may be empty). Nothing where that is not proved.
std::optional<Vector> proved_point(const Mlcp& problem, const Mode& mode,
                                   const std::vector<char>& zeros);

/// The linear system of a mode of a family, K (u, λ) = R (θ, 1):
///     M11 u + M12 λ = -q1,    a (M21 u + M22 λ + q2) + b λ = c   row by row of the laws
void mode_system(const ParametricMlcp& family, const Mode& mode, BoundedMatrix& K, BoundedMatrix& R);

}  // namespace perp

#pragma once

#include <perp/lcp/mlcp.hpp>

namespace perp {

/// The branch of every law that is nearest to (w, λ); of equally near ones the first.
Mode nearest_mode(const Mlcp& problem, const Vector& u, const Vector& lambda);

/// The solution of the linear equations of `mode` that is nearest to (u, λ) in scaled units
///     0 = M11 u + M12 λ + q1,   a_i w_i + b_i λ_i = c_i,   w = M21 u + M22 λ + q2
/// (the only one if the mode matrix is regular), or the point itself if its residual is smaller.
/// Takes an answer of limited accuracy to rounding level.
Solution refined(const Mlcp& problem, const Vector& u, const Vector& lambda, const Mode& mode);

}  // namespace perp

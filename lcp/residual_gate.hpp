#pragma once

#include <string>

#include <perp/lcp/mlcp.hpp>

namespace perp {

/// The largest residual of a point beside what the rounding of its own coordinates does to the row:
///     |M11 u + M12 λ + q1|_i / e_i,    e_i = Σ_j |M_ij| ulp(y_j)/2,
/// and of the laws the least, over the branches, of what (w_i, λ_i) misses them by beside the errors
/// of both. At most 1 where each coordinate is the double nearest to a solution; does not depend on
/// units.
double misfit(const Mlcp& problem, const Vector& u, const Vector& lambda);

/// Largest misfit of a point that is called a solution.
inline constexpr double misfit_limit = 8;

/// Makes a solver's answer a solution to rounding, or says that it is none: Newton's method in its
/// mode with the residual in long double; where that does not pass, the mode's solutions in rational
/// arithmetic; else the same in the mode that its laws go to which miss their branches. Completes w, the mode and the residual.
bool settle(const Mlcp& problem, Solution& point);

/// E.g. "residual 1e+03 times its rounding"; of a point whose rows hold, that no mode has such a solution.
std::string describe_misfit(const Mlcp& problem, const Solution& point);

}  // namespace perp

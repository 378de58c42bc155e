#pragma once

#include <vector>

#include <perp/core/base/types.hpp>
#include <perp/core/law.hpp>

namespace perp {

/// The algebraic problem of one step, a mixed linear complementarity problem with laws as data:
///     0 = M11 u + M12 λ + q1        u ∈ R^p free
///     w = M21 u + M22 λ + q2        (w_i, λ_i) ∈ graph of law_i,  i = 1..m
struct Mlcp {
  Matrix M11;             ///< p×p
  Matrix M12;             ///< p×m
  Vector q1;              ///< p
  Matrix M21;             ///< m×p
  Matrix M22;             ///< m×m
  Vector q2;              ///< m
  std::vector<Law> laws;  ///< m

  /// Number of free unknowns.
  [[nodiscard]] int p() const { return static_cast<int>(q1.size()); }
  /// Number of laws.
  [[nodiscard]] int m() const { return static_cast<int>(laws.size()); }
};

/// Throws InvalidInput where a shape does not fit ("M21 must be 3x2 but is 2x2"), an entry is not
/// finite, or a law is unusable.
void validate(const Mlcp& problem);

/// One point (u, λ) with its w, the mode it was found in and its residual.
struct Solution {
  Vector u;               ///< p
  Vector lambda;          ///< m
  Vector w;               ///< m
  Mode mode;              ///< m
  double residual = nan;  ///< see `residual`
};

/// w = M21 u + M22 λ + q2.
Vector output(const Mlcp& problem, const Vector& u, const Vector& lambda);

/// The one number that decides what counts as solved, for every solver: the largest of
///   |M11 u + M12 λ + q1|_i / s_i   and the distance of (w_i, λ_i) from the graph of law i.
/// s_i = |q|_i + Σ|M_ij y_j| + 2^-14 S_i σ is the size of the terms that must cancel; the last
/// term, with the row scale S_i of `equilibrate` and the size σ of the scaled data and solution, is
/// there for rows that only repeat an unknown which vanishes by cancellation elsewhere. Distances
/// in w_i are measured in s_i, those in λ_i in the change of λ_i that moves some row r by its own
/// s_r. The residual does not change under positive scaling of rows and change of units of u, λ and
/// w. inf if anything is not finite. Throws InvalidInput if u or λ does not have the size of the
/// problem.
double residual(const Mlcp& problem, const Vector& u, const Vector& lambda);

/// Largest residual (relative, see above) of a point that is called a solution, and the distance
/// (in the same scaled units) below which two solutions are the same point.
inline constexpr double solution_tolerance = 1e-10;

/// A problem in scaled unknowns, factors all powers of two so that scaling costs no rounding:
///     u = u_scale ∘ û,   λ = lambda_scale ∘ λ̂,   w = w_scale ∘ ŵ,   rows of [M11 M12] over
///     row_scale
struct Scaling {
  Vector u_scale;                       ///< p
  Vector row_scale;                     ///< p
  Vector lambda_scale;                  ///< m
  Vector w_scale;                       ///< m
  std::vector<int> row_component{};     ///< p+m: rows coupled by entries of M share a number
  std::vector<int> column_component{};  ///< p+m: the same numbers for the unknowns (u, λ)
};

/// The powers of two that bring the entries of [M11 M12 q1; M21 M22 q2] and the constants of the laws
/// near 1: Curtis and Reid's least squares of their logarithms, with Huber's weights, so that a weak
/// coupling between parts that are well scaled by their own data does not count. A sloped branch ties
/// the units of its w and λ like an entry of size |b/a|. Follows a change of units.
Scaling equilibrate(const Mlcp& problem);

/// The same residual with the scaling of `equilibrate(problem)` at hand.
double residual(const Mlcp& problem, const Scaling& scaling, const Vector& u, const Vector& lambda);

/// The scaled problem; the laws' coefficients and ranges are scaled with it.
Mlcp scaled(const Mlcp& problem, const Scaling& scaling);

}  // namespace perp

#pragma once

#include <vector>

#include <perp/core/law.hpp>
#include <perp/core/types.hpp>

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

  [[nodiscard]] int p() const { return static_cast<int>(q1.size()); }
  [[nodiscard]] int m() const { return static_cast<int>(laws.size()); }
};

/// Throws InvalidInput where a shape does not fit ("M21 must be 3x2 but is 2x2"), an entry is not
/// finite, or a law is unusable.
void validate(const Mlcp& problem);

/// One point (u, λ) with its w, the mode it was found in and its residual.
struct Solution {
  Vector u;
  Vector lambda;
  Vector w;
  Mode mode;
  double residual = nan;
};

/// w = M21 u + M22 λ + q2.
Vector output(const Mlcp& problem, const Vector& u, const Vector& lambda);

/// The one number that decides what counts as solved, for every solver: the largest of
///   |M11 u + M12 λ + q1|_i / s_i   and the distance of (w_i, λ_i) from the graph of law i, w over s_i,
/// where s_i = |q|_i + Σ|M_ij y_j| is the size of the terms that must cancel and λ_i is measured against
/// the size that λ_i has to have for its effect to be seen: it is invariant under positive scaling of
/// rows and under change of units of u and λ. inf if anything is not finite.
double residual(const Mlcp& problem, const Vector& u, const Vector& lambda);

/// Largest residual (relative, see above) of a point that is called a solution, and the distance
/// (in the same scaled units) below which two solutions are the same point.
inline constexpr double solution_tolerance = 1e-10;

/// A problem in powers-of-two scaled
/// unknowns: u = u_scale ∘ û, λ = lambda_scale ∘ λ̂, w = w_scale ∘ ŵ, rows of M11 divided by row_scale.
struct Scaling {
  Vector u_scale;       // p
  Vector row_scale;     // p
  Vector lambda_scale;  // m
  Vector w_scale;       // m
};

/// Powers of two that bring the rows and columns of [M11 M12; M21 M22] near 1 (and the data q to at
/// most about 1 in the scaled unknowns), so that scaling costs no rounding.
Scaling equilibrate(const Mlcp& problem);

/// The scaled problem; the laws' coefficients and ranges are scaled with it.
Mlcp scaled(const Mlcp& problem, const Scaling& scaling);

}  // namespace perp

#pragma once

#include <string>
#include <vector>

#include <perp/lcp/mlcp.hpp>

namespace perp {

/// Where one law of the original problem went. A law whose branches join end to end is a curve in
/// the (w, λ) plane; with d_k the direction of its k-th branch and P_1 its first corner
///     (w, λ) = P_1 + ζ_1 d_2 + Σ_{k≥2} ζ_k (d_{k+1} − d_k) − η_1 d_1,   0 ≤ ζ_k ⊥ η_k ≥ 0
/// where η_k = ζ_k − ζ_1 + η_1 + (way from corner 1 to corner k). Three branches of which the outer
/// two are parallel need one unknown only: ζ in a box and η of either sign, -η ∈ N_box(ζ).
struct CurveUnknowns {
  int first = 0;           ///< index of ζ_1 in y
  int count = 0;           ///< number of ζ; 0: λ is fixed by the law
  std::vector<int> order;  ///< branches of the law in their order along the curve
};

/// Mixed complementarity over a box, the form that the classical methods work on:
///     F = N y + r,   -F_i ∈ N_[lower_i, upper_i](y_i)
/// that is y = lower where F > 0, y = upper where F < 0. The first `free` unknowns are free (F =
/// 0), each other one has a finite bound and lower < upper.
struct BoxForm {
  Matrix N;                         ///< n×n
  Vector r;                         ///< n
  Vector lower;                     ///< n
  Vector upper;                     ///< n
  int free = 0;                     ///< number of free unknowns
  Matrix back;                      ///< (p+m)×n: (u, λ) = back y + back0
  Vector back0;                     ///< p+m
  std::vector<CurveUnknowns> laws;  ///< m; only from `box_form`, the other conversions drop it

  [[nodiscard]] int n() const { return static_cast<int>(r.size()); }
};

/// Empty if the law's graph is one polygonal curve without ends (every monotone law is), else why
/// it is not: loose ends as those of a hysteresis, more than two branches at a point, parts apart.
std::string no_curve(const Law& law);

/// `no_curve` of the first law that has no box form, with its name; empty: all have one.
std::string no_box_form(const Mlcp& problem);

/// The equivalent box form. Exact: no matrix is inverted; where a curve has no horizontal end an
/// auxiliary free unknown stands for λ. Precondition: no_box_form(problem) is empty.
BoxForm box_form(const Mlcp& problem);

/// The form without its free unknowns, y_f = −N_ff⁻¹ (N_fb y_b + r_f). Returns false and leaves the
/// form alone if N_ff is singular (estimated condition above 1e13 after scaling).
bool eliminate_free(BoxForm& form);

/// The form with bounds [0, ∞) only besides the free unknowns: an MLCP; without free unknowns an
/// LCP. A two-sided box needs two unknowns:
///     y = l + v₁,  0 ≤ v₁ ⊥ F + v₂ ≥ 0,  0 ≤ v₂ ⊥ u − l − v₁ ≥ 0
BoxForm to_pairs(const BoxForm& form);

}  // namespace perp

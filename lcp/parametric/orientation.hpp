#pragma once

#include <string>

#include <perp/lcp/mlcp.hpp>

namespace perp {

/// Has the problem exactly one solution (u, λ) whatever q1 and q2 are?
///
/// Walk along the graphs of the laws, (w_i, λ_i) = γ_i(ζ_i): the problem becomes  F(u, ζ) = q  with
/// the piecewise affine
///     F = (M11 u + M12 λ(ζ),  w(ζ) − M21 u − M22 λ(ζ)),   one affine piece for each mode.
/// F is one-to-one and onto exactly where all its pieces are regular with determinants of one sign.
/// Necessary: a homeomorphism keeps its orientation. Sufficient: the pieces are boxes in ζ, four of
/// them around every edge of codimension two. Across a facet equal signs make F a local
/// homeomorphism; around such an edge the images of four wedges, each narrower than a half turn,
/// add up to one turn; around smaller faces the map of the simply connected sphere follows; and
/// since all pieces are regular F is proper. For 0 ≤ w ⊥ λ ≥ 0 and regular M11 it is the P-matrix
/// property of M22 − M21 M11⁻¹ M12.
struct UniqueSolvability {
  /// What was found.
  enum class Verdict {
    unique,    ///< every mode was looked at: exactly one solution for every q
    monotone,  ///< the same, by a definite matrix and monotone laws (`has_at_most_one_solution`)
    fold,      ///< `mode` and `neighbour` have opposite signs: near their corner 2 or 0 solutions
    singular,  ///< the matrix of `mode` is singular: for some q none or a continuum
    unknown    ///< see `reason`
  };
  Verdict verdict = Verdict::unknown;  ///< the answer
  Mode mode{};       ///< of all laws; those of other blocks stand at the begin of their curve
  Mode neighbour{};  ///< differs from `mode` in `law` only
  int law = -1;      ///< whose corner it is
  std::string reason{};  ///< of `unknown`, one sentence

  /// Exactly one solution, proved?
  [[nodiscard]] bool is_unique() const {
    return verdict == Verdict::unique || verdict == Verdict::monotone;
  }
};

/// Looks at the modes of every independent block, at most `max_modes` of each. Signs of determinants
/// are proved by the bounds of an elimination, and exact where these leave them open. Throws
/// InvalidInput.
UniqueSolvability unique_solvability(const Mlcp& problem, long max_modes = 65'536);

}  // namespace perp

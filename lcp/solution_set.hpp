#pragma once

#include <string>
#include <vector>

#include <perp/core/base/status.hpp>
#include <perp/lcp/mlcp.hpp>

namespace perp {

/// One polyhedron of solutions of a block, in the block's coordinates y = (u, λ):
///     conv(vertices) + cone(rays) + span(lines)
/// Every mode in `modes` has exactly this polyhedron as its solutions.
struct Piece {
  std::vector<Mode> modes;  ///< at least one; branch indices of the block's laws
  int dimension = 0;        ///< 0: a point
  Matrix vertices;          ///< (p+m)×k, one column a vertex; k ≥ 1
  Matrix rays;              ///< (p+m)×k
  Matrix lines;             ///< (p+m)×k
};

/// An independent part of a problem: no equation couples it to the rest.
struct Block {
  std::vector<int> u;         ///< indices of its u in the whole problem, increasing
  std::vector<int> lambda;    ///< indices of its laws in the whole problem, increasing
  std::vector<Piece> pieces;  ///< inclusion-maximal, none contained in another; empty: no solution
  std::vector<int> equations{};  ///< indices of its equations in the whole problem, as many as u
  long different_u = 0;          ///< number of different u in the pieces, -1 for a continuum
};

/// All solutions of an Mlcp, in product form: one choice of a piece per block.
struct SolutionSet {
  int p = 0;                  ///< free unknowns of the problem
  int m = 0;                  ///< laws of the problem
  std::vector<Block> blocks;  ///< independent parts
  bool complete = false;      ///< proved: there is no other solution
  std::string certificate{};  ///< why, e.g. "complete enumeration"; or how far it got
  long nodes = 0;             ///< nodes of the search
};

/// Classes of the set and of its projection on u (of the set itself for a problem without u). A
/// count is -1 for a continuum and saturates at the largest long.
Multiplicity multiplicity(const SolutionSet& set);
/// That of the projection on u.
Multiplicity multiplicity_of_u(const SolutionSet& set);
/// Number of solutions (u, λ).
long count(const SolutionSet& set);
/// Number of different u.
long count_of_u(const SolutionSet& set);

/// The letter of a branch of a box law, from its data: L (λ at its lower bound, w ≥ 0), U (λ at its
/// upper bound, w ≤ 0), F (w = 0), X (λ fixed, lower = upper); '?' for a branch of another kind.
char active_set_letter(const Law& law, int branch);

/// The pieces of the whole problem, products of the blocks' pieces, at most `limit` of them; of
/// each product's modes at most the first 4096.
std::vector<Piece> pieces(const SolutionSet& set, long limit);

/// ‖W (y - center)‖₂ over y = (u, λ): the norm that chooses between solutions. For a step W = [E 0]
/// and center = (x_k, ·), that is ‖E (x⁺ - x)‖, [RAB] eq. (31).
struct Norm {
  Matrix W;       ///< r×(p+m)
  Vector center;  ///< p+m
};

/// Throws InvalidInput unless W and center have p+m columns and entries, all finite.
void validate(const Norm& norm, const Mlcp& problem);

/// The nearest point of a solution set.
struct Nearest {
  /// solved; no_solution; not_enumerated where the set is not complete (the nearest of the known
  /// solutions is given all the same) or where the norm couples too many blocks; not_solved
  Status status = Status::never_run;
  double norm = nan;  ///< the least one
  std::vector<Solution>
      minimisers;         ///< the points at this norm (at most 1000); the first is the choice
  std::string message{};  ///< one sentence when not solved
};

/// Minimises the norm over the whole set, continua included (a convex quadratic problem per piece).
/// Norms that differ by less than 1e-12 relatively are equal. Of several minimisers the first is
/// one that lies in `present` (nullptr: none), else the one with the smallest mode,
/// lexicographically; both are decided block by block. Where W leaves directions of a continuum
/// free, the point nearest to `center` in all of u is taken, then the one of least ‖λ‖. Throws
/// InvalidInput where shapes do not fit.
Nearest nearest(const Mlcp& problem, const SolutionSet& set, const Norm& norm,
                const Mode* present = nullptr);

}  // namespace perp

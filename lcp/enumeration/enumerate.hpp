#pragma once

#include <perp/lcp/solution_set.hpp>

namespace perp {

/// Limits of an enumeration.
struct EnumerateOptions {
  long max_nodes = 200'000'000;   ///< nodes of the search tree, all blocks together
  long max_solutions = 1'000'000;  ///< modes with solutions that are kept, all blocks together
};

/// Every solution of the problem, as the union over the modes of their polyhedra, block by block,
/// and within a block part by part in block triangular form (see `search_triangular`). Depth-first
/// over the laws with one pivot a node; a node is cut where it is proved to have no solution (see
/// ModeTree). The set is exact about its data: every sign, singularity and equality of solutions is
/// decided by error bounds, or in rational arithmetic where these leave it open. Doubles are exact
/// rational numbers; only the coordinates that are given are rounded. If a limit ends the search
/// first, or a block is too large for its tableaus, the set is not `complete`, and the certificate
/// says how far it got. Throws InvalidInput.
SolutionSet enumerate(const Mlcp& problem, const EnumerateOptions& options = {});

/// The independent blocks of a problem (connected components of equations and unknowns), pieces
/// empty. `coupling` (r×(p+m), may be empty): rows that tie unknowns together too, e.g. the W of a
/// Norm.
std::vector<Block> independent_blocks(const Mlcp& problem, const Matrix& coupling = {});

/// The problem of one block alone.
Mlcp subproblem(const Mlcp& problem, const Block& block);

/// Coordinates as fractions, e.g. "15/7": [block][piece][vertex][coordinate].
using Fractions = std::vector<std::vector<std::vector<std::vector<std::string>>>>;

/// The same set with its vertices as rational numbers, in `exact_vertices` where it is not null; each
/// coordinate of the set is the nearest double, rays and lines are primitive integer vectors. Throws
/// InvalidInput.
SolutionSet enumerate_exact(const Mlcp& problem, const EnumerateOptions& options = {},
                            Fractions* exact_vertices = nullptr);

}  // namespace perp

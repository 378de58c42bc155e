#pragma once

#include <perp/lcp/solution_set.hpp>

namespace perp {

/// Limits of an enumeration.
struct EnumerateOptions {
  long max_nodes = 200'000'000;     ///< nodes of the search tree, all blocks together
  double tol = solution_tolerance;  ///< largest accepted `residual`
  long max_solutions = 1'000'000;   ///< modes with solutions that are kept, all blocks together
};

/// Every solution of the problem, as the union over the modes of their polyhedra, block by block,
/// and within a block part by part in block triangular form (see `search_triangular`). Depth-first
/// over the laws with one pivot a node; a node is cut where the interval of a row over the ranges
/// of the remaining unknowns excludes its law, or by a checked proof that its rows have no solution
/// (see ModeTree). If a limit ends the search first, or a block is too large for its tableaus, the
/// set is not `complete`, and the certificate says how far it got. Throws InvalidInput.
SolutionSet enumerate(const Mlcp& problem, const EnumerateOptions& options = {});

/// The independent blocks of a problem (connected components of equations and unknowns), pieces
/// empty. `coupling` (r×(p+m), may be empty): rows that tie unknowns together too, e.g. the W of a
/// Norm.
std::vector<Block> independent_blocks(const Mlcp& problem, const Matrix& coupling = {});

/// The problem of one block alone.
Mlcp subproblem(const Mlcp& problem, const Block& block);

/// Coordinates as fractions, e.g. "15/7": [block][piece][vertex][coordinate].
using Fractions = std::vector<std::vector<std::vector<std::vector<std::string>>>>;

/// All solutions in exact rational arithmetic (the data are doubles, hence rational): no tolerance
/// anywhere. For small problems and as the judge of the others. `exact_vertices` is filled when it
/// is not null. Rays and lines are primitive integer vectors. Throws InvalidInput.
SolutionSet enumerate_exact(const Mlcp& problem, const EnumerateOptions& options = {},
                            Fractions* exact_vertices = nullptr);

}  // namespace perp

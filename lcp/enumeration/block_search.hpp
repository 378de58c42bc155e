#pragma once

#include <perp/lcp/enumeration/enumerate.hpp>

namespace perp {

/// What a search found of one block.
struct BlockFindings {
  std::vector<Piece> pieces{};  ///< inclusion-maximal, in the block's coordinates (u, λ)
  long nodes = 0;
  long modes = 0;         ///< modes with solutions that were kept
  double explored = 0;    ///< share of the search that was done, 1 if it is finished
  bool finished = false;  ///< false if a limit ended the search
  bool unique = false;    ///< finished by `has_at_most_one_solution` and one solution
};

/// All solutions of a problem as one block: the tree of its modes, depth first (see ModeTree), and
/// the polyhedron of each mode that is left: a point by error bounds where these put it inside of
/// its mode alone, else from its generators in rational arithmetic. Where
/// `has_at_most_one_solution` holds the first solution ends the search. The limits are those of
/// `options`.
BlockFindings search_block(const Mlcp& block, const EnumerateOptions& options);

}  // namespace perp

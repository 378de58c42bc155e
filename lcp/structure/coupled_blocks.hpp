#pragma once

#include <vector>

#include <perp/lcp/solution_set.hpp>

namespace perp {

/// Blocks of a solution set that a norm couples, put together; the norms of different ones add up
/// by squares.
struct CoupledBlocks {
  Block block;               ///< indices and, after `combine_pieces`, the pieces
  std::vector<int> members;  ///< of SolutionSet::blocks
};

/// Most pieces that coupled blocks may have together.
inline constexpr long coupled_piece_limit = 100'000;

/// Indices of the block's unknowns among all (u, λ).
std::vector<int> coordinates(const Block& block, int p);

/// Two blocks are coupled where WᵀW is not zero (beside rounding) between their unknowns.
std::vector<CoupledBlocks> coupled_blocks(const SolutionSet& set, const Matrix& W);

/// Joins the members' indices and makes the products of their pieces; false if these are too many.
bool combine_pieces(const SolutionSet& set, CoupledBlocks& group);

}  // namespace perp

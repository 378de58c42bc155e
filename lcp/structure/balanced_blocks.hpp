#pragma once

#include <vector>

#include <perp/core/linear/disjoint_sets.hpp>
#include <perp/lcp/solution_set.hpp>

namespace perp {

/// The independent blocks of what is connected, see `independent_blocks`: nodes are the unknowns (u, λ), p and m
/// of them, then the equations. Sets with more or fewer equations than u are one block together.
std::vector<Block> balanced_blocks(linear::DisjointSets components, int p, int m);

/// Joins the laws and equations of functions of time that nothing reads, which have no u of their own, to the first u.
void join_functions_of_time(linear::DisjointSets& components, int p, int m);

}  // namespace perp

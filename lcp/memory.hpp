#pragma once

#include <vector>

#include <perp/lcp/solution_set.hpp>

namespace perp {

/// The branches in which laws with memory start where they can: the declared one, else the first.
/// Other laws stand in their first branch. Empty where no law has memory.
Mode memory_at_start(const std::vector<Law>& laws);

/// How many laws with memory are on another branch than in the present mode of all laws. `mode` is
/// that of the laws of these numbers.
int memory_changes(const std::vector<Law>& laws, const std::vector<int>& numbers, const Mode& mode,
                   const Mode& present);
/// The same of a mode of all laws; 0 where `present` is empty.
int memory_changes(const std::vector<Law>& laws, const Mode& mode, const Mode& present);

/// Keeps of a solution set only the modes that change the fewest laws with memory against
/// `present`, block by block, and the pieces that still have one. Nothing where `present` is empty.
void respect_memory(SolutionSet& set, const std::vector<Law>& laws, const Mode& present);

}  // namespace perp

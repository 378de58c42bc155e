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

/// A law with memory whose argument leaves its branch within a step in the present mode, by how far it is inside of the end there.
struct Departing {
  int law;
  double before;  ///< at the beginning of the step
  double after;   ///< at its end, < 0
  double rounding;  ///< of `before`
};

/// Those that reach their end first, as far as rounding tells, on straight lines. With the others they change together.
std::vector<int> first_to_leave(const std::vector<Departing>& departing);

/// Keeps of a solution set only the modes that change the fewest laws with memory against
/// `present`, block by block, and the pieces that still have one. Nothing where `present` is empty.
void respect_memory(SolutionSet& set, const std::vector<Law>& laws, const Mode& present);

}  // namespace perp

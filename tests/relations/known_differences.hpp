#pragma once

#include <string>
#include <vector>

namespace perp::relations {

/// A relation that some models contradict under one scheme: the suite fails only where more of them
/// do. Ordinary models hold everywhere; what is not listed has no exception.
struct KnownDifference {
  std::string relation;
  std::string scheme;
  unsigned per_thousand;  ///< models that may differ
  std::string reason;
};

/// The list gets shorter; `scripts/relations` reports every difference, what is listed too.
inline const std::vector<KnownDifference>& known_differences() {
  static const std::vector<KnownDifference> list{
      {"words", "backward_euler", 3,
       "a contact lands where rounding tells on which side of its surface it is, and may rebound by "
       "that rounding in a step of ulps (seed 336)"}};
  return list;
}

}  // namespace perp::relations

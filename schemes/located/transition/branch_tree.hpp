#pragma once

#include <functional>
#include <vector>

#include <perp/schemes/located/transition/solution_branches.hpp>

namespace perp {

/// A run with the choices that were made for it, and whether others are to follow.
struct FollowedBranch {
  SolutionBranch branch;
  bool goes_on = true;  ///< false: it is the last one, and the list is not complete
  bool is_complete = true;  ///< false: at some moment continuations besides those that were found are not excluded
};

/// All branches that `follow` makes of lists of choices (0 beyond their end), ordered by their choices; at
/// most `most`.
inline SolutionBranches branch_tree(
    std::size_t most, const std::function<FollowedBranch(const std::vector<std::size_t>& choices)>& follow) {
  SolutionBranches result;
  std::vector<std::vector<std::size_t>> open{{}};  // choices up to the last that differs
  while (!open.empty()) {
    if (result.list.size() >= most) {
      result.complete = false;
      break;
    }
    const std::vector<std::size_t> choices = std::move(open.back());
    open.pop_back();
    FollowedBranch followed = follow(choices);
    if (followed.branch.repulsion || !followed.is_complete) result.complete = false;
    result.list.push_back(std::move(followed.branch));
    if (!followed.goes_on) {
      result.complete = false;
      break;
    }
    const std::vector<SolutionBranch::Choice>& met = result.list.back().choices;
    // Earlier moments and later choices are pushed first: the list is ordered by its choices.
    for (std::size_t k = choices.size(); k < met.size(); ++k)
      for (std::size_t other = met[k].of - 1; other > 0; --other) {
        std::vector<std::size_t> next = choices;
        next.resize(k, 0);
        next.push_back(other);
        open.push_back(std::move(next));
      }
  }
  return result;
}

}  // namespace perp

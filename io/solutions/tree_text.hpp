#pragma once

#include <string>
#include <vector>

#include <perp/analysis/solutions/trees.hpp>

namespace perp::io {

/// The tree of discrete solutions of a run as text: where it splits, each way with its norm, mode
/// and end, the selector's way marked with '*'. Empty where it never splits.
std::string tree_text(const Model& model, const std::vector<TreeNode>& nodes);

/// The solutions of a run with the located scheme: for each what it chose where several
/// continuations start, how it ends and where.
std::string branches_text(const Model& model, const SolutionBranches& found);

}  // namespace perp::io

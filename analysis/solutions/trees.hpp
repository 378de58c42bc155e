#pragma once

#include <vector>

#include <perp/models/language/model.hpp>
#include <perp/schemes/jumps/merged_tree.hpp>
#include <perp/schemes/jumps/solution_tree.hpp>
#include <perp/schemes/located/transition/solution_branches.hpp>

namespace perp {

/// The tree of all discrete solutions of `steps` steps of the model's scheme and h, from x at t.
/// Throws InvalidInput: a scheme whose steps are not listed, a model with resets.
MergedTree merged_tree_of(const Model& model, const Vector& x, double t, int steps, long max_nodes);

/// The discrete solutions of a run of the model's scheme over its span: where it splits, each way
/// is followed to the end; the selector's own is marked. One node: it never splits.
std::vector<TreeNode> solution_tree_of(const Model& model);

/// The solutions of a run with the located scheme: each continuation, wherever several start.
/// Each run keeps its first and last state, with `rows` those of every step and every run.h. Throws InvalidInput.
SolutionBranches solution_branches_of(const Model& model, bool rows = false);

}  // namespace perp

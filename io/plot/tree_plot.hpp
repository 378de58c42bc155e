#pragma once

#include <vector>

#include <perp/io/plot/picture.hpp>
#include <perp/models/language/model.hpp>
#include <perp/schemes/jumps/merged_tree.hpp>

namespace perp::io {

/// The tree of discrete solutions over time, a panel for each of `variables` (indices of the
/// model's): every state a point, every solution of a step a line, grey and dashed where no way
/// leads to the last step; ends without a solution crossed, states that were not followed hollow.
void draw_tree(const Picture& picture, const Model& model, const MergedTree& tree,
               const std::vector<int>& variables);

}  // namespace perp::io

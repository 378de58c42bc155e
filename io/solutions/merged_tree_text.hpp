#pragma once

#include <string>

#include <perp/io/json.hpp>
#include <perp/models/language/model.hpp>
#include <perp/schemes/jumps/merged_tree.hpp>

namespace perp::io {

/// "11 ways of 3 steps to 7 states, 2 ways die; 16 nodes". Counts are exact up to 24 digits, longer
/// ones are written "about 1.268e30".
std::string describe_counts(const MergedTree& tree, int steps);

/// The tree as text, one line for each solution of a step: the number of its node, time, state,
/// mode, norm; "+-" where a way splits, "as above" where it meets one that is shown already, "dies"
/// where no solution continues. At most `most_lines` lines.
std::string merged_tree_text(const Model& model, const MergedTree& tree, long most_lines);

/// What made it, counts, nodes and edges. Numbers of ways above 2^53 are texts of all their digits.
Json to_json(const Model& model, const MergedTree& tree);

}  // namespace perp::io

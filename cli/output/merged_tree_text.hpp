#pragma once

#include <string>

#include <perp/cli/output/provenance.hpp>
#include <perp/models/language/model.hpp>
#include <perp/schemes/jumps/merged_tree.hpp>

namespace perp::cli {

/// The tree of all discrete solutions of `steps` steps of the model's scheme and h, from x at t.
/// Throws InvalidInput: a scheme whose steps are not listed, a model with resets.
MergedTree merged_tree_of(const Model& model, const Vector& x, double t, int steps, long max_nodes);

/// "11 ways of 3 steps to 7 states, 2 ways die; 16 nodes". Counts are exact up to 24 digits, longer
/// ones are written "about 1.268e30".
std::string describe_counts(const MergedTree& tree, int steps);

/// The tree as text, one line for each solution of a step: the number of its node, time, state,
/// mode, norm; "+-" where a way splits, "as above" where it meets one that is shown already, "dies"
/// where no solution continues. At most `most_lines` lines.
std::string merged_tree_text(const Model& model, const MergedTree& tree, long most_lines);

/// Counts, nodes and edges. Numbers of ways above 2^53 are texts of all their digits.
Json to_json(const Model& model, const MergedTree& tree);

}  // namespace perp::cli

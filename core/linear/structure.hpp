#pragma once

#include <vector>

namespace perp::linear {

// What the places of the entries of a sparse matrix tell, their values left out (BTF of SuiteSparse).

/// The columns that hold an entry, row by row: increasing or not, each once or more often.
using Pattern = std::vector<std::vector<int>>;

/// As many rows and columns as possible in pairs, each pair at an entry of the pattern.
struct Matching {
  std::vector<int> column_of_row;  ///< -1: none
  std::vector<int> row_of_column;  ///< -1: none

  [[nodiscard]] bool is_perfect() const;
};

/// A largest matching. Rows come in their order, and each takes the first free column of its list where
/// there is one; earlier pairs change along alternating paths only where it has none. Throws
/// std::out_of_range for an entry that is no column.
Matching maximum_matching(const Pattern& rows, int columns);

/// The strongly connected components of a directed graph, numbered so that edges lead to components with
/// numbers that are no larger.
struct Components {
  int count = 0;
  std::vector<int> of_node;
};

/// `successors`: of each node. Throws std::out_of_range for an edge to no node.
Components strong_components(const Pattern& successors);

}  // namespace perp::linear

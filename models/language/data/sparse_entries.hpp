#pragma once

#include <vector>

namespace perp {

/// An entry of a sparse matrix, rows and columns from 0.
struct SparseEntry {
  int row = 0, column = 0;
  double value = 0;

  friend bool operator==(const SparseEntry&, const SparseEntry&) = default;
};

/// A sparse matrix as a list of its entries, in any order; several at one place are added.
struct SparseEntries {
  int rows = 0, columns = 0;
  std::vector<SparseEntry> entries{};
};

}  // namespace perp

#pragma once

#include <vector>

#include <perp/core/base/types.hpp>

namespace perp::linear {

/// Gaussian elimination with complete pivoting of a dense matrix, in place. Of equal entries the first column, in its
/// present order, has the pivot, in it the first row.
struct DensePivots {
  Matrix lu;                     ///< the matrix, then its factors; rows and columns in the order of pivots
  std::vector<int> row, column;  ///< original index of each row and column of lu
  int rank = 0;                  ///< pivots that were taken: all that is left is at most the tolerance

  void eliminate(double tolerance);

 private:
  double largest_below(Eigen::Index column, Eigen::Index from, Eigen::Index& row) const;
  void exchange(Eigen::Index k, Eigen::Index row, Eigen::Index column);
  void subtract(Eigen::Index k, Eigen::Index column);

  std::vector<Eigen::Index> changing_;  // rows that the present pivot changes
  Vector largest_;                      // of each column, in what is left of it
};

}  // namespace perp::linear

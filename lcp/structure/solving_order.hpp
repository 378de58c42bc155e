#pragma once

#include <vector>

#include <perp/lcp/exact/arithmetic.hpp>

namespace perp {

/// The order in which equations in n unknowns are solved: an unknown that only one of the rows holds stands with that row behind
/// all that hold others alone, one after the other, as states do that nothing depends on. Whether the matrix is singular, and
/// where its equations contradict, is a matter of the rows before these.
struct SolvingOrder {
  /// The first n rows, of n entries at least, are put in that order.
  SolvingOrder(std::vector<std::vector<Rational>>& rows, int n);

  std::vector<int> columns;  ///< of the unknowns
  int in_core;               ///< how many of the rows, and of the unknowns, are not those of one row alone
};

}  // namespace perp

#pragma once

#include <perp/lcp/mlcp.hpp>

namespace perp {

/// What is known of one block.
struct BlockNearest {
  bool finished = false, found = false;
  double norm = inf, bound = 0;
  Solution solution{};
  long nodes = 0;
};

/// The nearest point of all solutions in ‖W (y - center)‖: bounds drop what is surely farther, rational
/// arithmetic decides among the others. Not `finished` where the budget of nodes ended the enumeration.
BlockNearest nearest_of_all(const Mlcp& problem, const Matrix& W, const Vector& center,
                            long budget);

}  // namespace perp

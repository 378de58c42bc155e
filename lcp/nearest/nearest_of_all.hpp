#pragma once

#include <vector>

#include <perp/lcp/mlcp.hpp>

namespace perp {

/// What is known of one block.
struct BlockNearest {
  bool finished = false, found = false;
  double norm = inf, bound = 0;
  Solution solution{};
  long nodes = 0;
};

/// What is known of blocks that nothing couples; norms and bounds add up by squares.
struct BlocksNearest {
  bool finished = true, found = true;
  std::vector<double> norms{}, bounds{};

  void add(const BlockNearest& block) {
    finished = finished && block.finished;
    found = found && block.found;
    norms.push_back(block.norm);
    bounds.push_back(block.bound);
  }
};

/// The nearest point of all solutions in ‖W (y - center)‖: bounds drop what is surely farther, rational
/// arithmetic decides among the others. Not `finished` where the budget of nodes ended the enumeration.
BlockNearest nearest_of_all(const Mlcp& problem, const Matrix& W, const Vector& center,
                            long budget);

}  // namespace perp

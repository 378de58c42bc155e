#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace perp::linear {

/// Disjoint sets of the nodes 0..count-1, each node alone at first.
class DisjointSets {
 public:
  explicit DisjointSets(int count) : parent_(static_cast<std::size_t>(count)) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  /// The smallest node of the set that holds this one.
  int root(int node) {
    while (parent(node) != node) node = parent(node) = parent(parent(node));
    return node;
  }
  void join(int a, int b) {
    a = root(a);
    b = root(b);
    parent(std::max(a, b)) = std::min(a, b);
  }

 private:
  int& parent(int node) { return parent_[static_cast<std::size_t>(node)]; }
  std::vector<int> parent_;
};

}  // namespace perp::linear

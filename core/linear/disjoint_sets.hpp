#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace perp::linear {

/// The smallest node of the set that holds this one, of sets kept as a node for each: itself, or a smaller one of its set.
inline int root_of(std::vector<int>& parent, int node) {
  const auto of = [&parent](int k) -> int& { return parent[static_cast<std::size_t>(k)]; };
  while (of(node) != node) node = of(node) = of(of(node));
  return node;
}

/// Disjoint sets of the nodes 0..count-1, each node alone at first.
class DisjointSets {
 public:
  explicit DisjointSets(int count) : parent_(static_cast<std::size_t>(count)) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  /// The smallest node of the set that holds this one.
  int root(int node) { return root_of(parent_, node); }
  void join(int a, int b) {
    a = root(a);
    b = root(b);
    parent_[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
  }

 private:
  std::vector<int> parent_;
};

}  // namespace perp::linear

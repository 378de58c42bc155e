#pragma once

#include <vector>

namespace perp::linear {

/// The largest of a list of numbers that change one by one, and its first place: a tree of pairs.
class LargestEntry {
 public:
  /// `count` numbers, all of them -1.
  void resize(int count);
  void set(int place, double value);
  [[nodiscard]] double operator[](int place) const { return tree_[leaf(place)]; }
  [[nodiscard]] double value() const { return tree_[1]; }
  /// The first place with the largest number.
  [[nodiscard]] int place() const;

 private:
  [[nodiscard]] std::size_t leaf(int place) const { return half_ + static_cast<std::size_t>(place); }

  std::size_t half_ = 1;
  std::vector<double> tree_;  // node k has the larger one of 2k and 2k + 1; leaves from half_ on
};

}  // namespace perp::linear

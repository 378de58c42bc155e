#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace perp {

/// Numbers from 0 to below a bound, each once, in the order in which they come. Whether one is new is nothing that
/// processors foresee: each is written, and counts where it is.
class NumberSet {
 public:
  explicit NumberSet(std::size_t bound) : holds_(bound, 0), numbers_(bound + 1) {}

  void add(int number) {
    numbers_[count_] = number;
    count_ += std::exchange(holds_[static_cast<std::size_t>(number)], char{1}) == 0 ? 1 : 0;
  }
  [[nodiscard]] bool holds(int number) const { return holds_[static_cast<std::size_t>(number)] != 0; }
  [[nodiscard]] std::span<const int> numbers() const { return {numbers_.data(), count_}; }
  void clear() {
    for (const int number : numbers()) holds_[static_cast<std::size_t>(number)] = 0;
    count_ = 0;
  }

 private:
  std::vector<char> holds_;
  std::vector<int> numbers_;  // room for all, and for one more that is there
  std::size_t count_ = 0;
};

}  // namespace perp

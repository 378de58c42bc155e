#pragma once

#include <algorithm>

#include <perp/core/base/archive.hpp>

namespace perp {

/// Nodes that the enumerations of a run may cost (see EnumerateOptions). Those that come to an end cost nothing, however many
/// they are; those that do not are tried again only as often as steps go on, so that a run in which none ends takes the time of
/// its solver and a share of it. In between, small ones still are.
class SearchAccount {
 public:
  /// Of the next enumeration.
  [[nodiscard]] long nodes() const { return left_ >= of_a_search ? of_a_search : of_a_small_search; }
  /// An enumeration of `nodes()` came to no end.
  void take() {
    if (left_ >= of_a_search) left_ -= of_a_search;
  }
  /// A step has been made.
  void add_step() { left_ = std::min(left_ + of_a_search / steps_of_a_search, most); }

  void transfer(Archive& archive) { archive(left_); }

 private:
  static constexpr long of_a_search = 50'000;
  static constexpr long of_a_small_search = of_a_search / 64;
  static constexpr long steps_of_a_search = 16;
  static constexpr long most = 4 * of_a_search;

  long left_ = most;
};

}  // namespace perp

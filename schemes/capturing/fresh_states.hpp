#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/core/base/types.hpp>

namespace perp {

/// The last states at which something begins: a start, a reset, a change of mode. What stands before
/// them is no part of the solution behind, so that steps from them read nothing of it. A run goes back
/// to a few of them while it looks for the end of a mode. A state is what its variables with rates are, at whichever time:
/// the end of a step may be told to be a rounding later.
class FreshStates {
 public:
  /// `has_rate`: of each variable, it outlives this.
  explicit FreshStates(const std::vector<char>& has_rate) : has_rate_(has_rate) {}

  void add(const Vector& x) {
    if (contains(x)) return;
    states_[next_] = x;
    next_ = (next_ + 1) % states_.size();
  }
  [[nodiscard]] bool contains(const Vector& x) const {
    return std::any_of(states_.begin(), states_.end(), [&](const Vector& state) { return is_same(state, x); });
  }

  void transfer(Archive& archive) { archive(states_, next_); }

 private:
  [[nodiscard]] bool is_same(const Vector& a, const Vector& b) const {
    if (a.size() != b.size()) return false;  // none yet
    bool some = false;
    for (Eigen::Index j = 0; j < a.size(); ++j) {
      if (has_rate_[static_cast<std::size_t>(j)] == 0) continue;
      if (a[j] != b[j]) return false;
      some = true;
    }
    return some || a == b;
  }

  const std::vector<char>& has_rate_;
  std::array<Vector, 8> states_;
  std::size_t next_ = 0;
};

}  // namespace perp

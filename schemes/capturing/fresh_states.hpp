#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/core/base/types.hpp>

namespace perp {

/// The last states at which something begins: a start, a reset, a change of mode. What stands before
/// them is no part of the solution behind, so that steps from them read nothing of it. A run goes back
/// to a few of them while it looks for the end of a mode. A state is what its variables with rates are.
class FreshStates {
 public:
  /// `has_rate`: of each variable, it outlives this.
  explicit FreshStates(const std::vector<char>& has_rate) : has_rate_(has_rate) {}

  void add(double t, const Vector& x) {
    if (contains(t, x)) return;
    states_[next_] = {t, x};
    next_ = (next_ + 1) % states_.size();
  }
  [[nodiscard]] bool contains(double t, const Vector& x) const {
    return std::any_of(states_.begin(), states_.end(), [&](const State& state) { return state.t == t && is_same(state.x, x); });
  }

  void transfer(Archive& archive) { archive(states_, next_); }

 private:
  struct State {
    double t = std::numeric_limits<double>::quiet_NaN();
    Vector x{};
    void transfer(Archive& archive) { archive(t, x); }
  };

  [[nodiscard]] bool is_same(const Vector& a, const Vector& b) const {
    for (Eigen::Index j = 0; j < a.size(); ++j)
      if (has_rate_[static_cast<std::size_t>(j)] != 0 && a[j] != b[j]) return false;
    return true;
  }

  const std::vector<char>& has_rate_;
  std::array<State, 8> states_;
  std::size_t next_ = 0;
};

}  // namespace perp

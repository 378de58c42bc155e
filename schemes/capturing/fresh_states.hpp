#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

#include <perp/core/base/archive.hpp>
#include <perp/core/base/types.hpp>

namespace perp {

/// The last states at which something begins: a start, a reset, a change of mode. What stands before
/// them is no part of the solution behind, so that steps from them read nothing of it. A run goes back
/// to a few of them while it looks for the end of a mode.
class FreshStates {
 public:
  void add(double t, const Vector& x) {
    if (contains(t, x)) return;
    states_[next_] = {t, x};
    next_ = (next_ + 1) % states_.size();
  }
  [[nodiscard]] bool contains(double t, const Vector& x) const {
    return std::any_of(states_.begin(), states_.end(),
                       [&](const State& state) { return state.t == t && state.x == x; });
  }

  void transfer(Archive& archive) { archive(states_, next_); }

 private:
  struct State {
    double t = std::numeric_limits<double>::quiet_NaN();
    Vector x{};
    void transfer(Archive& archive) { archive(t, x); }
  };

  std::array<State, 8> states_;
  std::size_t next_ = 0;
};

}  // namespace perp

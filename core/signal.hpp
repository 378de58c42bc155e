#pragma once

#include <functional>
#include <utility>
#include <vector>

#include <perp/core/types.hpp>

namespace perp {

/// A vector that is constant or a function of time: the b and q of an Lcs.
class Signal {
 public:
  using Function = std::function<void(double t, Vector& value)>;

  Signal() = default;
  Signal(Vector constant) : value_(std::move(constant)) {}  // NOLINT: implicit on purpose
  /// `value` gives the size and the entries that never change; `function` overwrites the entries
  /// listed in `varying` (increasing indices) and no others.
  Signal(Vector value, std::vector<int> varying, Function function)
      : value_(std::move(value)), varying_(std::move(varying)), function_(std::move(function)) {}

  [[nodiscard]] Eigen::Index size() const { return value_.size(); }
  [[nodiscard]] bool is_constant() const { return varying_.empty(); }
  [[nodiscard]] const std::vector<int>& varying() const { return varying_; }
  /// Constant entries; the varying ones hold what the signal was made with.
  [[nodiscard]] const Vector& constant() const { return value_; }

  /// Writes the value at time t; `value` must have the signal's size. Does not allocate by itself.
  void evaluate(double t, Vector& value) const {
    value = value_;
    if (function_) function_(t, value);
  }
  [[nodiscard]] Vector operator()(double t) const {
    Vector value = value_;
    if (function_) function_(t, value);
    return value;
  }

 private:
  Vector value_;
  std::vector<int> varying_;
  Function function_;
};

}  // namespace perp

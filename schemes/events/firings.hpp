#pragma once
// The firings of resets within one step: do they accumulate?
#include <cmath>

#include <perp/core/base/types.hpp>

namespace perp {

/// Times at which resets fire, in their order.
class Firings {
 public:
  explicit Firings(double start) : last_(start) {}

  /// One more, at t. Are there too many, or have the times between them shrunk from firing to firing, down to what doubles
  /// tell of t?
  [[nodiscard]] bool accumulate_at(double t) {
    const double interval = t - last_, ulp = 2 * unit_roundoff * std::abs(t);
    const bool is_limit = interval <= ulp && shrunk_ >= least_shrunk && interval_ <= near_limit * ulp;
    if (interval > ulp) shrunk_ = interval < interval_ ? shrunk_ + 1 : 0;
    if (interval > ulp) interval_ = interval;
    last_ = t;
    return is_limit || ++count_ == most;
  }

 private:
  static constexpr int most = 100;         ///< within one step
  static constexpr int least_shrunk = 8;   ///< times in a row that the time between two became shorter
  static constexpr double near_limit = 64;  ///< of the last digit of t: the last one before it is nothing to doubles

  double last_;
  double interval_ = inf;
  int shrunk_ = 0, count_ = 0;
};

}  // namespace perp

#pragma once
// Changes of binaries in ever shorter times: do they have a limit?
#include <utility>
#include <vector>

#include <perp/core/base/archive.hpp>
#include <perp/core/base/types.hpp>

namespace perp {

/// The moments at which binaries change, in their order.
class CrowdedChanges {
 public:
  explicit CrowdedChanges(double start) : start_(start), last_(start) {}

  /// One more, at t, of these binaries. Do others change here than before, behind changes whose times shrank from one to the
  /// next down to a millionth of t? Then the state is at their limit as far as can be seen, and on which side it is, rounding tells.
  bool is_at_limit(double t, std::vector<int> changed) {
    const double interval = t - last_;
    shrunk_ = interval < interval_ ? shrunk_ + 1 : 0;
    interval_ = interval;
    last_ = t;
    const bool is_other = changed != changed_;
    changed_ = std::move(changed);
    return is_other && shrunk_ >= least_shrunk && interval <= near_limit * (t - start_);
  }
  void transfer(Archive& archive) { archive(last_, interval_, shrunk_, changed_); }

 private:
  static constexpr int least_shrunk = 8;      ///< times in a row that the time between two became shorter
  static constexpr double near_limit = 1e-6;  ///< of the time since the start

  double start_, last_;
  double interval_ = inf;
  int shrunk_ = 0;
  std::vector<int> changed_;
};

}  // namespace perp

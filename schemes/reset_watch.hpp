#pragma once

#include <string>
#include <vector>

#include <perp/core/dcs.hpp>
#include <perp/core/dcs_evaluator.hpp>

namespace perp {

/// The resets of a Dcs along accepted steps: on which side of 0 each condition is, and which one
/// fires. A reset fires where its condition comes to the other side in its direction; after that
/// its condition counts as on the side it came from, and has to leave 0 to that side before it may
/// fire again.
class ResetWatch {
 public:
  ResetWatch(const Dcs& system, DcsEvaluator& evaluator);

  [[nodiscard]] bool empty() const { return resets_.empty(); }
  /// Forgets everything: the state is (t, x, λ) with unknown past.
  void start(double t, const Vector& x, const Vector& lambda);

  struct Firing {
    int reset = -1;  ///< -1: none
    double s = 1;    ///< share of the step
    bool again = false;  ///< its condition has not left 0 since it fired last
  };
  /// The first reset that fires on the way from (t0, x0, λ0) to (t1, x1, λ1), the state moving
  /// linearly. If none does, the new sides are remembered.
  Firing first(double t0, const Vector& x0, const Vector& lambda0, double t1, const Vector& x1,
               const Vector& lambda1);
  /// Applies a reset to x at t.
  void apply(int reset, double t, Vector& x, const Vector& lambda);
  [[nodiscard]] const std::string& name(int reset) const {
    return resets_[static_cast<std::size_t>(reset)].name;
  }

 private:
  double condition(std::size_t reset, double t, const Vector& x, const Vector& lambda);
  double condition_between(std::size_t reset, double s);

  DcsEvaluator& evaluator_;
  std::vector<Reset> resets_;
  std::vector<int> side_;    // -1, 0 (unknown), 1
  std::vector<char> fired_;  // and its condition has not left 0 since
  std::vector<double> z_, values_;
  double t0_ = 0, t1_ = 0;
  Vector x0_, x1_, lambda0_, lambda1_, x_, lambda_;
};

}  // namespace perp

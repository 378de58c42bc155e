#pragma once

#include <functional>
#include <vector>

#include <perp/schemes/newton/mode_newton.hpp>

namespace perp {

/// Follows the solution of one mode from a state to a step of length h: from a very short step on,
/// each from those before, as near as Newton's method contracts.
class BranchFollower {
 public:
  /// `set_length` makes the step one of that length, `has_orientation` says whether the matrix of a
  /// solution at that length has the orientation of short steps; `rooted` are the variables whose other
  /// roots the chain must not come to. All must outlive this.
  BranchFollower(ModeNewton& newton, std::function<void(double)> set_length,
                 std::function<bool(int, double)> has_orientation, std::vector<int> rooted)
      : newton_(newton),
        set_length_(std::move(set_length)),
        has_orientation_(std::move(has_orientation)),
        rooted_(std::move(rooted)) {}

  /// What is known of the state.
  struct Start {
    const Vector& lambda;
    const Vector& rate;  ///< of its last step; empty: none
    bool is_guess;       ///< algebraic variables and multipliers may be far off
  };

  /// (d, λ) at the length h. False: the branch ends before h, or no such chain was found.
  bool follow(double h, const Start& start, Vector& d, Vector& lambda);

 private:
  /// A solution of the chain.
  struct Link {
    double length = 0;
    Vector d, lambda;
  };

  bool begin(double h, const Start& start, Vector& d, Vector& lambda);
  bool go_on(double length, Vector& d, Vector& lambda);
  bool is_solved(double length, bool is_guess, Vector& d, Vector& lambda);
  bool is_next(double length, Vector& d, Vector& lambda);
  bool follows_powers(double length, Vector& d, Vector& lambda) const;

  ModeNewton& newton_;
  std::function<void(double)> set_length_;
  std::function<bool(int, double)> has_orientation_;
  std::vector<int> rooted_;
  Vector reach_;  // how far variables went in the last link: one may turn back in the next
  Link last_, before_, earlier_;
};

}  // namespace perp

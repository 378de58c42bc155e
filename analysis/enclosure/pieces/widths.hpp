#pragma once

#include <vector>

#include <perp/analysis/enclosure/doubleton.hpp>
#include <perp/analysis/enclosure/modes/mode_flow.hpp>

namespace perp::enclosure {

/// The width of a variable that is computed from the states, over a set of them.
struct ComputedWidth {
  double size = 0;             ///< of its largest value
  double whole = 0;            ///< its width; 0: it is not known
  double linear = 0;           ///< that of its linear part over the linear image of the start
  std::vector<bool> states{};  ///< those that act on it
};

/// The variables that are no states, of n = `count`.
std::vector<int> computed_variables(const StateSpace& space, int count);
/// Their widths.
std::vector<ComputedWidth> computed_widths(ModeFlow& flow, const std::vector<int>& variables,
                                           const Interval& t, const Doubleton& set);

/// How much wider the sets at rows are than the linear images of the start.
class Widths {
 public:
  /// `reach`: at each row, by state, what the width of the whole set is like there; empty: it is
  /// not known. `share`: what an excess may be.
  Widths(const std::vector<std::vector<double>>& reach, double share)
      : reach_(reach), share_(share) {}

  /// The set at a row, and what is computed from it. Its excess is a share of the largest width of
  /// that state at any row so far, or of the whole set's: it is the hull of all pieces that is
  /// asked for. Widths of rounding are no reason to bisect.
  void note(const Doubleton& set, std::size_t row, const std::vector<ComputedWidth>& computed);
  /// The largest one so far.
  [[nodiscard]] double excess() const { return excess_; }
  /// States of which a row was too wide, and those that act on what was.
  [[nodiscard]] const std::vector<bool>& wide() const { return wide_; }

 private:
  bool is_too_wide(const ComputedWidth& found, std::size_t row, std::size_t column);

  const std::vector<std::vector<double>>& reach_;
  double share_;
  double excess_ = 0;
  std::vector<double> widest_;
  std::vector<bool> wide_;
};

/// The interval of the start that widens the others most; -1: the bisection of none would change
/// anything. `shares`: of `Doubleton::smear`.
int widest_start(const std::vector<double>& shares);

}  // namespace perp::enclosure

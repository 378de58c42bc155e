#pragma once

#include <vector>

#include <perp/analysis/enclosure/doubleton.hpp>

namespace perp::enclosure {

/// How much wider the sets at rows are than the linear images of the start.
class Widths {
 public:
  /// `reach`: at each row, by state, what the width of the whole set is like there; empty: it is not
  /// known. `share`: what an excess may be.
  Widths(const std::vector<std::vector<double>>& reach, double share)
      : reach_(reach), share_(share) {}

  /// The set at a row. Its excess is a share of the largest width of that state at any row so far, or
  /// of the whole set's: it is the hull of all pieces that is asked for. Widths of rounding are no
  /// reason to bisect.
  void note(const Doubleton& set, std::size_t row);
  /// The largest one so far.
  [[nodiscard]] double excess() const { return excess_; }
  /// States of which a row was too wide.
  [[nodiscard]] const std::vector<bool>& wide() const { return wide_; }

 private:
  const std::vector<std::vector<double>>& reach_;
  double share_;
  double excess_ = 0;
  std::vector<double> widest_;
  std::vector<bool> wide_;
};

/// The interval of the start that widens the others most; -1: the bisection of none would change anything.
/// `shares`: of `Doubleton::smear`.
int widest_start(const std::vector<double>& shares);

}  // namespace perp::enclosure

#pragma once

#include <span>
#include <vector>

#include <perp/core/tape/tape.hpp>

namespace perp {

/// Formulas of known numbers p alone that hold an abs, min, max or sign at its kink: the argument is 0, but for rounding.
/// An edge of atan2, where it jumps by 2π, is one, too.
class FormulaKinks {
 public:
  /// Of the formulas that these lines of the tape are, or hold, as far as they have no input before number `first`; p_k is
  /// input first + k. Numbers that are no integers are known to half an ulp.
  FormulaKinks(const Tape& tape, std::span<const int> lines, int first, std::span<const double> p);

  /// Is there one?
  [[nodiscard]] bool any() const { return !formulas_.empty(); }
  /// Have all of these formulas one derivative along p + s d at s = 0, which is that of `differentiate`, the mean of both
  /// sides of a kink? Each argument at a kink has the sign of its slope.
  [[nodiscard]] bool are_smooth_along(std::span<const double> d) const;

 private:
  void keep(const Tape& tape, std::span<const int> lines, int first);
  [[nodiscard]] std::vector<char> kinks() const;
  void keep_affected();
  [[nodiscard]] Tape behind(std::span<const double> d, double side, std::vector<int>& lines) const;

  Tape tape_;                  // of formulas of p alone, which is its inputs
  std::vector<int> formulas_;  // of it: those that hold a kink
  std::vector<double> p_;
  std::vector<char> at_kink_;  // of each line
};

}  // namespace perp

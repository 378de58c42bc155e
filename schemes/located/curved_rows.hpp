#pragma once

#include <vector>

#include <perp/core/interval/interval.hpp>
#include <perp/schemes/located/radau/mode_flow.hpp>

namespace perp {

/// The equations of a mode without derivatives that are not affine in the variables they determine, as those of diodes:
/// between two samples of a step such a variable may go to where the equations are others, and come back.
class CurvedRows {
 public:
  /// Of the mode set in the flow, with the unknowns that rows without derivatives determine.
  void look_at(const ModeFlow& flow, const std::vector<Eigen::Index>& determined);

  /// Are there none?
  [[nodiscard]] bool empty() const { return curved_.empty(); }
  /// Lines of the formulas that are not affine in the variables: what they are made of may lie between two values, and
  /// they beyond theirs.
  [[nodiscard]] const std::vector<int>& curved() const { return curved_; }
  /// The equations without derivatives, numbers of F, and the lines they are made of.
  [[nodiscard]] const std::vector<int>& rows() const { return rows_; }
  [[nodiscard]] const std::vector<int>& lines() const { return lines_; }

  /// Widens the variables in a box of inputs, which holds their values at some point of it and the way of all other inputs,
  /// until on each side of theirs some equation has no zero for any values of the others: as continuous functions
  /// they do not leave the box. `least` (n): by which those that seem to rest are widened at first. False: no such box was
  /// found.
  [[nodiscard]] bool widen(std::vector<enclosure::Interval>& box, const Vector& least);
  /// Ranges of lines that are made of those of the inputs, as far as the equations hold.
  void narrow(std::vector<enclosure::Interval>& ranges) const;

 private:
  /// A determined variable: its input, its number, the equations that contain it, and the lines they are made of.
  struct Variable {
    int input = 0, number = 0;
    std::vector<int> rows{}, lines{};
  };
  void add_variable(int number, const std::vector<int>& outputs);
  [[nodiscard]] bool is_excluded(const Variable& variable, double value, std::vector<enclosure::Interval>& box);
  [[nodiscard]] bool widen(const Variable& variable, double growth, std::vector<enclosure::Interval>& box);

  const Dcs* formulas_ = nullptr;
  std::vector<int> rows_, lines_, curved_;
  std::vector<Variable> variables_;
  std::vector<enclosure::Interval> ranges_;
};

}  // namespace perp

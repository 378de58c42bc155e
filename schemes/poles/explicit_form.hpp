#pragma once

#include <vector>

#include <perp/core/dcs.hpp>
#include <perp/core/expression/differentiate.hpp>

namespace perp {

/// A mode as formulas of (t, x): v = (ẋ, algebraic x, free λ) solved block after block (Dulmage and
/// Mendelsohn) from the rows of F and the laws. A block of up to `largest_solved_block` unknowns in which
/// it is affine is solved by Cramer's rule: its determinant is a divisor then, which vanishes where
/// the block does not determine its unknowns. A constraint of index 2 is differentiated first. Other
/// unknowns stay inputs, those of square blocks with the equations that determine them.
struct ExplicitForm {
  /// As many equations as unknowns, none of which another group needs.
  struct Implicit {
    std::vector<int> equations;  ///< lines
    std::vector<int> unknowns;   ///< inputs
  };

  Tape tape;              ///< inputs t | ẋ | x | λ, as those of the system
  std::vector<int> rows;  ///< lines: solved unknowns, equations of the others, then w and constraints
  std::vector<Implicit> implicit{};
};

constexpr int largest_solved_block = 6;

/// The equations of a system of which the explicit forms of all modes are made.
class ExplicitForms {
 public:
  explicit ExplicitForms(const Dcs& system);

  /// May the form of some mode have divisors that are no numbers?
  [[nodiscard]] bool may_divide() const { return may_divide_; }
  /// Of a mode with m entries.
  [[nodiscard]] ExplicitForm form(const Mode& mode) const;
  [[nodiscard]] int n() const { return system_.n(); }
  [[nodiscard]] int m() const { return system_.m(); }

 private:
  [[nodiscard]] bool may_be_unknown(int input) const;
  [[nodiscard]] bool may_divide_by(const std::vector<Derivative>& derivatives, const Tape& tape, std::size_t rows) const;

  Dcs system_;                      // without parameters
  std::vector<char> differential_;  // of each variable
  bool may_divide_ = false;
};

/// The lines whose zeros are those of the divisors in `rows`: factors of divisors, bases of negative
/// powers, cosines of tangents (which `tape` gets). What vanishes nowhere by its form is left out.
std::vector<int> divisors_of(Tape& tape, const std::vector<int>& rows);
/// The lines y of the angles atan2(y, x) in `rows`, which jump by 2π where y passes 0 beside x < 0.
/// Numbers are left out.
std::vector<int> cuts_of(const Tape& tape, const std::vector<int>& rows);

}  // namespace perp

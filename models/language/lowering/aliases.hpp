#pragma once

#include <map>
#include <vector>

#include <perp/models/language/lowering/algebra.hpp>
#include <perp/models/language/lowering/lowering.hpp>

namespace perp::lowering {

/// Algebraic variables that an equation without operators gives as an affine form of what is no such
/// variable: w of `w = x - y` or `0 = 2*w - x + y`, alone or together, as u and w of
/// `u + w = x`, `u - w = y`. One surface may be told under several names, and operators of one surface share a
/// law whatever its name is.
/// Equations are looked at once, where an argument holds an algebraic variable.
class Aliases {
 public:
  Aliases(Algebra& algebra, const EquationModel& model) : algebra_(algebra), model_(model) {}

  /// The affine form of a line with the forms of aliases in their place.
  AffineForm form(int line);

 private:
  void find();
  /// The equations without operators and derivatives, as left - right.
  std::vector<AffineForm> plain_equations();
  /// Of the model's tape: the lines that hold an operator, a derivative or the multiplier of a stated law.
  [[nodiscard]] std::vector<char> lines_with_operators() const;
  /// The lines of the algebra for these of the model's tape; -1: not asked for.
  std::vector<int> lowered(const std::vector<bool>& needed);
  void define(const std::vector<AffineForm>& equations);
  void eliminate(const std::vector<AffineForm>& equations);
  /// Keeps the form of the variable on this line that the equation gives.
  void solve(const AffineForm& equation, int line);
  /// The number of the variable on this line; -1: it is none.
  [[nodiscard]] int variable_of(int line) const;
  /// The algebraic variables of a form that have no form yet, as lines.
  [[nodiscard]] std::vector<int> unknowns_of(const AffineForm& form) const;
  AffineForm replaced(const AffineForm& form);

  Algebra& algebra_;
  const EquationModel& model_;
  std::vector<char> is_algebraic_;     // of the variables; empty: no equation has been looked at
  std::map<int, AffineForm> form_of_;  // of aliases, by their lines
};

}  // namespace perp::lowering

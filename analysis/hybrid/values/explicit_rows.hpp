#pragma once

#include <vector>

#include <perp/core/linear/structure.hpp>
#include <perp/models/language/hybrid/hybrid_model.hpp>

namespace perp {

/// The constraints of a hybrid model as functions of (t, x, z) alone, where each ẋ and each algebraic variable is given
/// by an equation of its own, affine in it, once the ones before are known: these are put in their places. So are the
/// constraints' derivatives along the solution, and the rates.
class ExplicitRows {
 public:
  explicit ExplicitRows(const HybridModel& model);

  /// False: equations of the model couple their unknowns, are not affine in them, or are too long.
  [[nodiscard]] bool exist() const { return exist_; }
  /// Its inputs are those of the model; ẋ and algebraic variables are not among those that occur.
  [[nodiscard]] const Tape& tape() const { return tape_; }
  /// Lines of g_l, of dg_l/dt, of the terms of Σ (ẋ_j / nominal_j)² (of variable j, -1: no state), of the unknowns (ẋ_j,
  /// or x_j of an algebraic variable), and of what must not be 0 for them to exist.
  ///@{
  [[nodiscard]] const std::vector<int>& values() const { return values_; }
  /// Does g_l hold ẋ or an algebraic variable?
  [[nodiscard]] bool has_unknowns(int l) const { return has_unknowns_[static_cast<std::size_t>(l)] != 0; }
  [[nodiscard]] const std::vector<int>& slopes() const { return slopes_; }
  [[nodiscard]] const std::vector<int>& norm_terms() const { return norm_terms_; }
  [[nodiscard]] const std::vector<int>& unknowns() const { return unknowns_; }
  [[nodiscard]] const std::vector<int>& denominators() const { return denominators_; }
  ///@}

 private:
  struct Given;
  struct Pair {
    int line = -1, unknown = -1, slope = -1;  // of an equation, its unknown, the derivative by it
  };
  void find_unknowns(Given& given, linear::Pattern& unknowns, linear::Pattern& slopes) const;
  [[nodiscard]] std::vector<Pair> pairs_of(Given& given) const;
  [[nodiscard]] bool put_unknown(Given& given, const Pair& pair);
  [[nodiscard]] bool put_unknowns(Given& given);
  [[nodiscard]] bool holds_unknown(const Tape& tape, int line) const;
  int put_input(Given& given, int input);
  int put(Given& given, int line);
  int times(int a, int b);
  void find_slopes(const std::vector<int>& unknowns);

  const HybridModel& model_;
  bool exist_ = false;
  std::vector<char> is_state_, has_unknowns_;
  Tape tape_;
  std::vector<int> values_, slopes_, norm_terms_, unknowns_, denominators_;
};

}  // namespace perp

#pragma once

#include <vector>

#include <perp/core/tape/cone_tape.hpp>
#include <perp/models/language/hybrid/hybrid_model.hpp>
#include <perp/models/language/hybrid/hybrid_structure.hpp>

namespace perp {

/// Rates ẋ and algebraic variables of a hybrid model at given t, x, where some binaries change:
/// only the sub-problems of the equations that follow from these are solved again, one after the
/// other,
///     0 = f(t, ẋ, x, y, z) in (ẋ, y).
/// Points are the inputs (t, ẋ, x, z) of the model's closed tape.
class LocalRates {
 public:
  LocalRates(const HybridModel& model, const HybridStructure& structure);

  /// The sub-problems that follow from these binaries, in the order in which they are solved.
  /// False: one of them holds binaries of its own.
  bool follow(const std::vector<int>& binaries, std::vector<int>& blocks);
  /// Their unknowns in the point, by Newton's method from what stands there. False: one is not
  /// solved.
  bool solve(const std::vector<int>& blocks, std::vector<double>& point);
  /// Row of the equations and constraints at a point.
  [[nodiscard]] double row(int row, const std::vector<double>& point) {
    return rows_.value(row, point);
  }

  /// Equations that hold a binary.
  [[nodiscard]] const std::vector<int>& equations_of_binary(int i) const;
  /// Constraints that hold a binary, those that hold a state.
  ///@{
  [[nodiscard]] const std::vector<int>& constraints_of_binary(int i) const;
  [[nodiscard]] const std::vector<int>& constraints_of_state(int j) const;
  ///@}
  /// Constraints that hold an unknown of the equations: a rate, an algebraic variable.
  [[nodiscard]] const std::vector<int>& constraints_of_unknown(int unknown) const;
  /// Where an unknown of the equations stands in a point.
  [[nodiscard]] std::size_t input_of(int unknown) const;

 private:
  struct Followers {
    bool is_known = false, is_open = false;
    std::vector<int> blocks{};
  };
  const Followers& followers(int binary);
  enum class Kind { equations, binaries, both };
  [[nodiscard]] Kind kind_of(int block) const;
  bool solve_one(int row, int unknown, std::vector<double>& point);
  double read(const SubProblem& block, const std::vector<double>& point, std::vector<double>& f);
  void differences(const SubProblem& block, std::vector<double>& point, const std::vector<double>& f, double size,
                   std::vector<double>& slopes);
  double correct(const SubProblem& block, const std::vector<double>& f, std::vector<double>& point) const;
  bool solve_several(const SubProblem& block, std::vector<double>& point);
  const HybridModel& model_;
  const HybridStructure& structure_;
  int n_, equations_;
  ConeTape rows_;
  std::vector<std::vector<int>> rows_of_unknown_, users_, by_unknown_, by_state_;
  std::vector<Followers> followers_;  // of each binary, made when it changes first
  std::vector<int> met_by_;           // of each sub-problem: the last binary asked about
};

}  // namespace perp

#pragma once

#include <cstdint>
#include <span>
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
  /// `rows`: of the equations and constraints, without parameters.
  LocalRates(const HybridModel& model, const HybridStructure& structure, ConeTape rows);

  /// The sub-problems that follow from these binaries, in the order in which they are solved.
  /// False: one of them holds binaries of its own.
  bool follow(const std::vector<int>& binaries, std::vector<int>& blocks);
  /// Their unknowns in the point, by Newton's method from what stands there. False: one is not
  /// solved.
  bool solve(const std::vector<int>& blocks, std::vector<double>& point);
  /// All equations are affine in ẋ and x with numbers, which are used from now on.
  void use_slopes() { uses_slopes_ = true; }
  /// Row of the equations and constraints at a point.
  [[nodiscard]] double row(int row, const std::vector<double>& point) {
    return rows_.value(row, point);
  }
  /// Derivatives of an equation by ẋ and x. False: one is no number.
  bool slopes(int row, std::vector<ConeTape::Slope>& slopes);

  /// Equations that hold a binary.
  [[nodiscard]] std::span<const int> equations_of_binary(int i) const { return rows_of_unknown_[n_ + i]; }
  /// Constraints that hold a binary, those that hold a state.
  ///@{
  [[nodiscard]] std::span<const int> constraints_of_binary(int i) const { return by_unknown_[n_ + i]; }
  [[nodiscard]] std::span<const int> constraints_of_state(int j) const { return by_state_[j]; }
  ///@}
  /// Constraints that hold an unknown of the equations: a rate, an algebraic variable.
  [[nodiscard]] std::span<const int> constraints_of_unknown(int unknown) const { return by_unknown_[unknown]; }
  /// States that a row of the equations and constraints holds.
  [[nodiscard]] std::span<const int> states_of_row(int row) const { return states_of_row_[row]; }
  /// Unknowns of the structure, binaries among them, that it holds.
  [[nodiscard]] std::span<const int> unknowns_of_row(int row) const { return unknowns_of_row_[row]; }
  /// Of a sub-problem.
  [[nodiscard]] std::span<const int> unknowns_of(int block) const { return unknowns_of_block_[block]; }
  /// Where an unknown of the equations stands in a point.
  [[nodiscard]] std::size_t input_of(int unknown) const { return input_of_[static_cast<std::size_t>(unknown)]; }

 private:
  /// Lists one behind the other: what is near in a model is near in memory.
  class Lists {
   public:
    /// These lists.
    template <class Items>
    static Lists of(const Items& items);
    /// Of each number below `count` which of the lists hold it, increasing.
    template <class Items>
    static Lists holders(const Items& items, int count);
    std::span<const int> operator[](int k) const {
      const std::uint32_t* const start = start_.data() + k;
      return {items_.data() + *start, start[1] - *start};
    }

   private:
    Lists() = default;
    std::vector<std::uint32_t> start_;
    std::vector<int> items_;
  };
  struct Followers {
    std::uint32_t first = 0;  ///< of its sub-problems among all
    int count = -1;           ///< -1: not known
    bool is_open = false;
  };
  Followers followers(int binary);
  void find_followers(int binary, Followers& found);
  enum class Kind : char { equations, binaries, both };
  [[nodiscard]] Kind kind_of(const SubProblem& sub) const;
  bool solve_one(int row, int unknown, std::vector<double>& point);
  /// A sub-problem of one row and one unknown.
  struct Single {
    int row = -1, unknown = -1;  ///< -1: it has several
    std::size_t input = 0;       ///< of the unknown
    double slope = 0;            ///< where it is known to be a number
  };
  bool solve_affine(const Single& single, std::vector<double>& point);
  double read(const SubProblem& block, const std::vector<double>& point, std::vector<double>& f);
  void differences(const SubProblem& block, std::vector<double>& point, const std::vector<double>& f, double size,
                   std::vector<double>& slopes);
  double correct(const SubProblem& block, const std::vector<double>& f, std::vector<double>& point) const;
  bool solve_several(const SubProblem& block, std::vector<double>& point);
  const HybridModel& model_;
  const HybridStructure& structure_;
  int n_, equations_;
  ConeTape rows_;
  Lists states_of_row_, unknowns_of_row_, unknowns_of_block_;
  Lists rows_of_unknown_, by_unknown_, by_state_, users_;
  std::vector<std::size_t> input_of_;
  bool uses_slopes_ = false;
  std::vector<Single> singles_;  // of each sub-problem
  std::vector<Kind> kinds_;      // of each sub-problem
  std::vector<int> following_, met_;  // sub-problems: of all followers; those of one binary that are met
  std::vector<Followers> followers_;  // of each binary, made when it changes first
  std::vector<int> met_by_;           // of each sub-problem: the last binary asked about
};

}  // namespace perp

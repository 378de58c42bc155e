#pragma once

#include <map>
#include <tuple>
#include <vector>

#include <perp/models/language/lowering/lowering.hpp>

namespace perp::lowering {

/// Which lines of a model count only in a branch of `if`: all their uses are in it. There they need a
/// value only while the weight of the branch is not 0.
class IfBranches {
 public:
  struct Branch {
    int outer = none;   ///< the branch that this one is in
    int condition = 0;  ///< line of the condition, no negation
    bool holds = true;  ///< is this the branch where it is true?
    int depth = 0;
  };
  static constexpr int none = -1;

  explicit IfBranches(const EquationModel& model);

  /// The innermost branch that holds every use of the line and whose conditions stand before it; none: it
  /// counts wherever.
  [[nodiscard]] int of(int line) const { return branch_of_[static_cast<std::size_t>(line)]; }
  [[nodiscard]] const Branch& operator[](int branch) const {
    return branches_[static_cast<std::size_t>(branch)];
  }

 private:
  void use(int line, int branch);
  /// What equations, laws, outputs and resets hold counts wherever.
  void use_roots(const EquationModel& model);
  void use_operands(const EquationModel& model, int line);
  int branch(const EquationModel& model, int outer, int condition, bool holds);
  [[nodiscard]] int common(int a, int b) const;

  std::vector<Branch> branches_;
  std::map<std::tuple<int, int, bool>, int> numbers_;  // by their outer one, condition and side
  std::vector<int> branch_of_;
};

}  // namespace perp::lowering

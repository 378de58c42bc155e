#pragma once

#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <perp/core/tape/tape.hpp>

namespace perp::enclosure {

/// Algebra on the lines of a tape that rounds nothing: numbers are put together only where that is
/// exact, and what is 0, 1 or cancels by its form is left out. A product with the number 0 is 0:
/// what does not act is not evaluated. By what is not 0 anywhere products are divided: (a n)/n = a.
class ExactLines {
 public:
  /// `nonzero`: inputs that are no 0 anywhere.
  explicit ExactLines(Tape& tape, std::set<int> nonzero = {})
      : tape_(tape), nonzero_(std::move(nonzero)) {}

  int number(double value) { return tape_.constant(value); }
  int negate(int a);
  int add(int a, int b);
  int subtract(int a, int b);
  int multiply(int a, int b);
  int divide(int a, int b);
  int apply(Operation operation, int a, int b);

  [[nodiscard]] bool is_number(int line) const {
    return tape_[line].operation == Operation::constant;
  }
  [[nodiscard]] bool is_number(int line, double value) const {
    return is_number(line) && tape_[line].value == value;
  }

  /// Rewrites the lines `roots` with these inputs replaced by lines.
  void substitute(std::span<int> roots, const std::map<int, int>& lines);
  /// The inputs that a line depends on, in increasing order.
  [[nodiscard]] std::vector<int> inputs_of(int line) const;
  [[nodiscard]] bool depends(int line, int input) const;
  /// Is it a constant that is 0 nowhere, by its factors?
  [[nodiscard]] bool is_nonzero(int line) const;
  /// ∂line/∂input.
  int derivative(int line, int input);

  Tape& tape() { return tape_; }

 private:
  /// A line as another one or its negative: sign · line.
  struct Signed {
    int line = -1, sign = 1;
  };
  [[nodiscard]] int reciprocal_of(int line) const;
  [[nodiscard]] int dividend_over(int line, int n) const;
  [[nodiscard]] Signed without_sign(int line) const;
  [[nodiscard]] Signed factor_beside(int product, const Signed& divisor) const;
  [[nodiscard]] bool is_kept(const Instruction& line, int a, int b) const;
  int left_of(int b, int a);
  int folded(Operation operation, int a, int b);
  int cancelled_sum(int a, int b);
  int cancelled_difference(int a, int b);
  int times_unit(int a, int b);
  int cancelled(int a, int b);

  Tape& tape_;
  std::set<int> nonzero_;
};

}  // namespace perp::enclosure

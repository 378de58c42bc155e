#pragma once

#include <string>
#include <vector>

#include <perp/models/language/lowering/aliases.hpp>
#include <perp/models/language/lowering/if_branches.hpp>
#include <perp/models/language/lowering/lowering.hpp>
#include <perp/models/language/lowering/switches.hpp>

namespace perp::lowering {

/// A tape with room for so many lines.
inline Tape empty_tape(std::size_t room) {
  std::vector<Instruction> lines;
  lines.reserve(room);
  return Tape(std::move(lines));
}

/// Goes through the lines of an equation model in their order and writes them without forms. Inputs
/// of the new tape: t | ẋ | x | p | bases of the switches.
class FormLowering {
 public:
  explicit FormLowering(const EquationModel& model);

  /// The lines up to `end`. Unless they create laws, operators use those that are there.
  void lower_until(int end, bool creates);

  /// There are no more lines to lower: what finds new lines is freed, the tape stays to be read.
  void finish() {
    tape_.settle();
    std::vector<int>().swap(lines_);
    std::vector<char>().swap(always_counts_);
  }

  /// The new line of an old one.
  [[nodiscard]] int line(int old) const { return lines_[static_cast<std::size_t>(old)]; }
  [[nodiscard]] Tape& tape() { return tape_; }
  [[nodiscard]] Algebra& algebra() { return algebra_; }
  [[nodiscard]] Switches& switches() { return switches_; }

 private:
  int input(int old_input);
  int operation(int old);
  int guarded(int old, int argument);
  int weight(int branch);
  int multiplier(int law);
  int form(int old);
  int folded_maximum(const Form& form, const std::string& text);
  int maximum(int a, int b, const Asked& asked);
  int minimum(int a, int b, const Asked& asked);
  /// The text of an operand.
  [[nodiscard]] std::string print(const Form& form, std::size_t k) const;
  int saturation(const Form& form, const std::string& text, FormPlace place);
  int dead_zone(const Form& form, const std::string& text, FormPlace place);
  int unit_saturation(int w, int lower, int upper, const std::string& text);
  [[nodiscard]] bool is_end(int bound);
  /// max(l, min(w, u)) without bounds that are infinite.
  int clamped(int w, int lower, int upper, const std::string& text);
  int piecewise(const Form& form, const std::string& text, FormPlace place);
  /// Throws unless point k of piecewise is constant, finite and beyond the one before it.
  void check_point(const Form& form, std::size_t k, FormPlace place);
  int sum_of_kinks(const Form& form, std::size_t count, int w, const std::string& text);
  int condition(const Form& form, const std::string& text);
  int choice(const Form& form);
  int choice_of_one(const Switches::Argument& w, int a, int b);
  /// The line, or the constant that it is.
  [[nodiscard]] int settled(int line);
  /// Of a comparison: what is positive where it holds.
  [[nodiscard]] int excess(const Form& form);
  int at_equality(const Form& form);
  void require_side(int argument, const std::string& text, FormPlace place);
  Switches::Argument comparison(const Form& form, const std::string& text);
  int own_law(const Law& law, int argument, const std::string& text);
  /// Do these lines depend on no parameter and no unknown?
  [[nodiscard]] bool are_numbers(int a, int b);
  /// Do they depend on parameters at most, and have finite values?
  [[nodiscard]] bool are_finite(int a, int b);
  /// Is lower <= upper, for all parameters where they are exact?
  [[nodiscard]] bool are_in_order(int lower, int upper);
  [[nodiscard]] bool is_natural_power(Operation operation, int exponent);
  void check_bounds(int lower, int upper, const std::string& text, FormPlace place);
  void require_bounds(int old, const std::string& text);

  [[nodiscard]] int operand(const Form& form, std::size_t k) const {
    return line(form.operands[k]);
  }

  const EquationModel& model_;
  Tape tape_;
  Algebra algebra_;
  Aliases aliases_;
  Switches switches_;
  std::vector<int> lines_;  // new lines of the old ones; of conditions their θ
  IfBranches branches_;
  std::vector<int> weights_;  // of these branches; -1: not asked for yet
  std::vector<char> always_counts_;  // of the old lines: no condition of an `if` leaves it out
  bool creates_ = true;
};

}  // namespace perp::lowering

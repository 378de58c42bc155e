#pragma once

#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <perp/core/expression/fraction/fraction.hpp>
#include <perp/core/tape/tape.hpp>
#include <perp/models/language/lowering/exact_parameters.hpp>

namespace perp::lowering {

/// What a line depends on.
enum class Dependence : unsigned char { nothing, parameters, unknowns };

/// Σ coefficient · line + constant: line of the tape -> line of its coefficient, which depends on
/// parameters at most. The constant is the coefficient of `one`.
using AffineForm = std::map<int, int>;
inline constexpr int one = -1;

/// Is it no more than the rounding of a sum of terms of this size?
inline bool is_rounding(double value, double size) { return std::abs(value) <= 1e-14 * size; }

/// Makes lines of a tape, and knows of each what it depends on and what it is worth where that is
/// known. 0, 1 and numbers are simplified; everything else stays as it is written.
/// With intervals for the parameters nothing is rounded: numbers are folded where the result is
/// exact, a line of numbers that is no double depends on parameters, and what is asked of values is
/// answered where it holds for all of them.
class Algebra {
 public:
  /// Inputs first_parameter .. first_parameter + values.size() - 1 are the parameters; `exact` are
  /// the same without rounding, null without.
  Algebra(Tape& tape, int first_parameter, std::span<const double> values,
          const ExactParameters* exact = nullptr)
      : tape_(tape), first_parameter_(first_parameter), parameters_(values), exact_(exact) {}

  int number(double value) { return tape_.constant(value); }
  int negate(int a);
  int add(int a, int b);
  int subtract(int a, int b);
  int multiply(int a, int b);
  int divide(int a, int b);
  /// `a` where the weight is not 0, else 1/2: see Operation::guard.
  int guard(int weight, int a);
  /// Any operation; of two numbers it is a number.
  int apply(Operation operation, int a, int b);

  [[nodiscard]] Dependence dependence(int line);
  [[nodiscard]] bool is_known(int line) { return dependence(line) != Dependence::unknowns; }
  /// The value of a line that depends on parameters at most; with intervals one of its values.
  [[nodiscard]] double value(int line);
  /// Are parameters intervals, and numbers exact?
  [[nodiscard]] bool is_exact() const { return exact_ != nullptr; }
  /// All its values.
  [[nodiscard]] enclosure::Interval interval(int line);
  /// Of a line that depends on parameters at most: 1, -1, 0, or nothing where it has no value or
  /// no certain one.
  [[nodiscard]] std::optional<int> sign(int line);
  /// Is b - a certainly > 0?
  [[nodiscard]] bool is_less(int a, int b);
  /// Is this the number itself?
  [[nodiscard]] bool is_number(int line, double number) const;

  /// The line as an affine form of lines that are not sums or multiples themselves. Cancelled terms
  /// are left out.
  AffineForm affine(int line);
  /// The form of -line.
  AffineForm negated(const AffineForm& form);
  /// The line k of parameters with a = k b whatever the parameters, k not 0. Empty: none is known.
  std::optional<int> ratio(const AffineForm& a, const AffineForm& b);
  /// A line of parameters that is what this line is whatever its unknowns, where their coefficients are 0: exactly, in rational
  /// numbers. Where those depend on parameters so does the new line, which has a kink there. -1: it depends on unknowns.
  int constant_of(int line);
  /// Is a = k b, of lines that depend on parameters at most? By their form; without intervals
  /// numbers, which are rounded then, are compared within that.
  bool is_multiple(int a, int k, int b);

  [[nodiscard]] Tape& tape() { return tape_; }

 private:
  /// What is known of a line: its value where it depends on parameters at most.
  struct Knowledge {
    Dependence dependence = Dependence::nothing;
    double value = 0;
  };
  void learn(int line);
  [[nodiscard]] Knowledge of_input(int input) const;
  /// Of an operation on lines that are learnt.
  [[nodiscard]] Knowledge of_operation(const Instruction& line) const;
  void learn_interval();
  [[nodiscard]] FractionReader& fractions();
  /// With the values of all parameters.
  [[nodiscard]] FractionReader& fractions_here();
  /// Is this coefficient 0, as far as its value tells?
  [[nodiscard]] bool vanishes(int coefficient);
  /// Adds a term to the coefficient of a line.
  void collect(AffineForm& form, int line, int term);
  /// coefficient · line as an operand of the line and its coefficient, where it is a known multiple of that; else none.
  std::optional<std::pair<int, int>> known_factor(const Instruction& line, int coefficient);
  /// The line without the known factors around it, which become those of the coefficient.
  int without_known_factors(int line, int& coefficient);
  /// The same as `known_factor`, and of a product of two unknowns as a multiple of that without known factors, in the order of
  /// its lines.
  std::optional<std::pair<int, int>> multiple_of_operand(const Instruction& line, int coefficient);
  void spread(int line, int coefficient, AffineForm& pending, AffineForm& form);

  Tape& tape_;
  int first_parameter_;
  std::span<const double> parameters_;
  std::vector<Dependence> dependence_;
  std::vector<double> value_;
  const ExactParameters* exact_;
  std::vector<enclosure::Interval> interval_;  // of the lines, where numbers are exact
  std::optional<FractionReader> fractions_, fractions_here_;  // made when they are asked for
};

/// What becomes of an input when a tape is rewritten: its line on the new tape. `renamed` holds the
/// new lines of the earlier ones.
using PlaceInput = std::function<int(Algebra& algebra, int input, const std::vector<int>& renamed)>;

/// Copies the lines that `roots` need to the tape of `algebra`, with its inputs placed anew, and
/// renames `roots`. Lines that use a replaced input are simplified, the others are kept as they
/// are.
void rewrite(const Tape& tape, std::span<int> roots, Algebra& algebra, const PlaceInput& place);

}  // namespace perp::lowering

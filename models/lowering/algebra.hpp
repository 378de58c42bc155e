#pragma once

#include <functional>
#include <map>
#include <span>
#include <vector>

#include <perp/core/tape.hpp>

namespace perp::lowering {

/// What a line depends on.
enum class Dependence : unsigned char { nothing, parameters, unknowns };

/// Σ coefficient · line + constant: line of the tape -> line of its coefficient, which depends on
/// parameters at most. The constant is the coefficient of `one`.
using AffineForm = std::map<int, int>;
inline constexpr int one = -1;

/// Makes lines of a tape, and knows of each what it depends on and what it is worth where that is
/// known. 0, 1 and numbers are simplified; everything else stays as it is written.
class Algebra {
 public:
  /// Inputs first_parameter .. first_parameter + values.size() - 1 are the parameters.
  Algebra(Tape& tape, int first_parameter, std::span<const double> values)
      : tape_(tape), first_parameter_(first_parameter), parameters_(values) {}

  int number(double value) { return tape_.constant(value); }
  int negate(int a);
  int add(int a, int b);
  int subtract(int a, int b);
  int multiply(int a, int b);
  int divide(int a, int b);
  /// Any operation; of two numbers it is a number.
  int apply(Operation operation, int a, int b);

  [[nodiscard]] Dependence dependence(int line);
  [[nodiscard]] bool is_known(int line) { return dependence(line) != Dependence::unknowns; }
  /// The value of a line that depends on parameters at most.
  [[nodiscard]] double value(int line);
  /// Is this the number itself?
  [[nodiscard]] bool is_number(int line, double number) const;

  /// The line as an affine form of lines that are not sums or multiples themselves. Cancelled terms
  /// are left out.
  AffineForm affine(int line);
  /// The form of -line.
  AffineForm negated(const AffineForm& form);

  [[nodiscard]] Tape& tape() { return tape_; }

 private:
  void learn(int line);
  void spread(int line, int coefficient, AffineForm& pending, AffineForm& form);

  Tape& tape_;
  int first_parameter_;
  std::span<const double> parameters_;
  std::vector<Dependence> dependence_;
  std::vector<double> value_;
};

/// What becomes of an input when a tape is rewritten: its line on the new tape. `renamed` holds the
/// new lines of the earlier ones.
using PlaceInput = std::function<int(Algebra& algebra, int input, const std::vector<int>& renamed)>;

/// Copies the lines that `roots` need to the tape of `algebra`, with its inputs placed anew, and
/// renames `roots`. Lines that use a replaced input are simplified, the others are kept as they
/// are.
void rewrite(const Tape& tape, std::span<int> roots, Algebra& algebra, const PlaceInput& place);

}  // namespace perp::lowering

#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include <perp/core/tape/running_error.hpp>
#include <perp/core/tape/tape.hpp>

namespace perp {

/// Σ_k c_k Π_i a_ki: coefficients by products of atoms, an atom as often as its power, in
/// increasing order. An atom is an input of a tape or a function that is no polynomial, see
/// PolynomialReader. Coefficients carry bounds of their rounding; those that are 0 within them are
/// left out, so that 0 has no terms.
struct SparsePolynomial {
  std::map<std::vector<int>, running_error::RunningError> terms{};

  [[nodiscard]] bool is_zero() const { return terms.empty(); }
};

/// κ with a = κ b, none where there is none, or one of them is 0. Coefficients are compared within
/// their rounding.
std::optional<double> ratio(const SparsePolynomial& a, const SparsePolynomial& b);

/// a b, none where it has more than a few thousand terms.
std::optional<SparsePolynomial> product(const SparsePolynomial& a, const SparsePolynomial& b);

/// Are they equal, coefficients compared within their rounding?
bool are_equal(const SparsePolynomial& a, const SparsePolynomial& b);

/// Reads lines of one tape as polynomials. Equal functions of equal polynomials are one atom over
/// all that one reader reads. Numbers of the tape count as known to a few units of rounding, as
/// decimal numbers are.
class PolynomialReader {
 public:
  explicit PolynomialReader(const Tape& tape) : tape_(tape) {}

  /// The line with inputs first, first + 1, .. replaced by the numbers `known`. None where it is
  /// multiplied out to more than a few thousand terms or has no finite value.
  std::optional<SparsePolynomial> read(int line, int first, const std::vector<double>& known);

  /// Does an atom hold an input of these, first to last - 1?
  [[nodiscard]] bool holds(int atom, int first, int last) const;

 private:
  int atom(Operation operation, const SparsePolynomial& a, const SparsePolynomial& b);
  std::optional<SparsePolynomial> operation(const Instruction& line, const SparsePolynomial& a,
                                            const SparsePolynomial& b);
  /// The same where it is no sum and no product by its form.
  std::optional<SparsePolynomial> of_function(const Instruction& line, const SparsePolynomial& a,
                                              const SparsePolynomial& b);

  const Tape& tape_;
  std::map<std::vector<double>, int> atoms_;
  std::vector<std::set<int>> inputs_;  // of the functions -1, -2, ..
};

/// The lines that one line needs, itself too, increasing.
std::vector<int> lines_below(const Tape& tape, int line);

/// The inputs that lines of a tape depend on, by their form; each question costs the lines it meets.
class InputsBelow {
 public:
  explicit InputsBelow(const Tape& tape);
  /// Increasing; until the next question.
  const std::vector<int>& operator()(int line);

 private:
  void meet(int line);

  const Tape& tape_;
  std::vector<int> met_by_, open_;  // the last question that met a line; lines still to look at
  std::vector<int> inputs_;
  int question_ = 0;
};

}  // namespace perp

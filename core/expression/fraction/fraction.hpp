#pragma once

#include <map>
#include <optional>
#include <vector>

#include <perp/core/base/rational.hpp>
#include <perp/core/tape/tape.hpp>

namespace perp {

/// Σ_k c_k Π_i a_ki without rounding: coefficients, none of them 0, by products of atoms, an atom
/// as often as its power, in increasing order. 0 has no terms.
using ExactPolynomial = std::map<std::vector<int>, Rational>;

/// A quotient of polynomials, of which `below` is not the polynomial 0.
struct Fraction {
  ExactPolynomial above, below;
};

/// Are they one function, wherever both have a value? False where that is not shown: their products
/// have more than some hundred terms.
bool are_equal(const Fraction& a, const Fraction& b);

/// Reads lines of one tape as fractions. Atoms are inputs k, and functions that are no quotients of
/// polynomials, as −1 − their line. The tape may grow; its lines stay what they are.
class FractionReader {
 public:
  /// Inputs with values count as these numbers, the others as unknowns.
  explicit FractionReader(const Tape& tape, std::vector<std::optional<Rational>> inputs = {})
      : tape_(tape), inputs_(std::move(inputs)) {}

  /// None where it has more than some hundred terms, or divides by 0.
  std::optional<Fraction> read(int line);

 private:
  /// Of a line whose operands are known; `leaf`: of one without operands.
  [[nodiscard]] std::optional<Fraction> of_line(int line) const;
  [[nodiscard]] std::optional<Fraction> leaf(int line) const;
  [[nodiscard]] std::optional<Fraction> apply(int line, const Fraction& a, const Fraction& b) const;
  [[nodiscard]] std::optional<Fraction> power(int line, const Fraction& base,
                                              const Fraction& exponent) const;

  const Tape& tape_;
  std::vector<std::optional<Rational>> inputs_;
  std::map<int, std::optional<Fraction>> known_;
};

}  // namespace perp

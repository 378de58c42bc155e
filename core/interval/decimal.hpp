#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <perp/core/base/rational.hpp>
#include <perp/core/expression/expression.hpp>
#include <perp/core/interval/interval.hpp>

namespace perp::enclosure {

/// The smallest interval of doubles that contains the decimal number `text`, e.g. "-1.5e-3"; digits
/// may be grouped, "1_000". A point where the number is a double. Throws InvalidInput where it is
/// no number.
Interval enclose_decimal(std::string_view text);

/// The decimal number itself, of a text that `enclose_decimal` takes. None where its power of ten is
/// beyond some thousands.
std::optional<Rational> exact_number(std::string_view text);

/// The literals of texts of the model language that are no doubles, 0.1 say: as inputs of the tape
/// that the texts are parsed to, so that nothing is rounded or folded. The input of a literal is an
/// interval that contains the decimal number; where inputs are doubles its value is the one that
/// the parser gives the literal, and results keep their bits.
class ExactLiterals {
 public:
  /// Notes those of one text. Two texts of one number, 0.1 and 0.10, are two literals.
  void add(std::string_view text);
  /// Notes a number that has no text in an expression; returns its index.
  int add(std::string name, const Interval& value, double nearest);

  /// Appends them to the names of the scope, as aliases of themselves: the parser looks a literal
  /// up there before it takes it for a double.
  void extend(Scope& scope) const;

  /// The texts, and beside each its interval and the double next to the number.
  ///@{
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }
  [[nodiscard]] const std::vector<Interval>& values() const { return values_; }
  [[nodiscard]] const std::vector<double>& nearest() const { return nearest_; }
  /// The numbers without rounding; none of what has no text in an expression.
  [[nodiscard]] const std::vector<std::optional<Rational>>& numbers() const { return numbers_; }
  ///@}

 private:
  bool take_number(std::string_view text, std::size_t& at);
  void add_literal(std::string_view literal);

  std::vector<std::string> texts_;
  std::vector<Interval> values_;
  std::vector<double> nearest_;
  std::vector<std::optional<Rational>> numbers_;
};

/// The value of an expression of named intervals, one for each name of the scope, its literals taken as the decimal numbers they
/// are: "8/3", "2*pi/T". Throws ExpressionError.
Interval enclose_expression(std::string_view text, const Scope& scope,
                            const std::vector<Interval>& values);

/// The same without rounding; none where it is no rational number, or holds a name that is none.
std::optional<Rational> exact_expression(std::string_view text, const Scope& scope,
                                         const std::vector<std::optional<Rational>>& values);

/// An expression of named intervals as a line of a tape, its literals taken as the decimal numbers
/// they are. Inputs: the names of the scope, then the literals that are no doubles.
struct ExactFormula {
  Tape tape{};
  int line = -1;
  int names = 0;
  std::vector<Interval> literals{};
};

/// Throws ExpressionError.
ExactFormula exact_formula(std::string_view text, const Scope& scope);

/// All digits of a double, which has finitely many: "0.1000000000000000055511151231257827...".
std::string exact_decimal(double x);

/// A decimal number of 20 significant digits at most, not above x (`lower`) or not below it: as
/// short as it can be where it is x itself. Reads back as x.
///@{
std::string decimal_below(double x);
std::string decimal_above(double x);
///@}

}  // namespace perp::enclosure

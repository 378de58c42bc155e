#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <perp/core/expression.hpp>
#include <perp/core/expression/interval.hpp>

namespace perp::enclosure {

/// The smallest interval of doubles that contains the decimal number `text`, e.g. "-1.5e-3"; digits
/// may be grouped, "1_000". A point where the number is a double. Throws InvalidInput where it is
/// no number.
Interval enclose_decimal(std::string_view text);

/// Texts of the model language without loss: a literal that is no double, 0.1 say, becomes a name,
/// whose interval contains the decimal number. What such a text is parsed to has the literal as an
/// input of its tape, so that nothing is rounded or folded; where the inputs are doubles their
/// values are those the parser gives the literals, and so results keep their bits.
class ExactLiterals {
 public:
  /// Names that no literal may get.
  explicit ExactLiterals(std::vector<std::string> taken = {}) : taken_(std::move(taken)) {}

  /// The text with names for its literals. Equal literals have one name.
  std::string replaced(std::string_view text);

  /// The names so far, and beside each its interval and the double next to the number.
  ///@{
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] const std::vector<Interval>& values() const { return values_; }
  [[nodiscard]] const std::vector<double>& nearest() const { return nearest_; }
  ///@}

 private:
  std::string name_of(std::string_view literal);

  std::vector<std::string> taken_, literals_, names_;
  std::vector<Interval> values_;
  std::vector<double> nearest_;
};

/// The value of an expression of named intervals, its literals taken as the decimal numbers they
/// are: "8/3", "2*pi/T". Throws ExpressionError.
Interval enclose_expression(std::string_view text, const std::vector<std::string>& names,
                            const std::vector<Interval>& values);

}  // namespace perp::enclosure

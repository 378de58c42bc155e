#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <perp/core/expression/expression.hpp>
#include <perp/core/expression/expression_forms.hpp>

namespace perp {

/// left = right, as lines of a tape.
struct Equation {
  int left = -1;
  int right = -1;
};

/// Parses `left = right`. The language is that of `parse_expression` with, besides,
///     der(x)                                    x one of the first scope.variables names
///     sign(w) abs(w) step(w) max(a, b, ...) min(a, b, ...) sat(w, l, u) deadzone(w, l, u)
///     piecewise(w, x1, y1, x2, y2, ...)         linear between the points, end pieces continued
///     if(condition, a, b)                       condition: a < b  (<= > >=), and, or, not
/// whose set-valued meaning is given when the equations become laws. Throws ExpressionError.
Equation parse_equation(std::string_view text, const Scope& scope, Tape& tape, Forms& forms);

/// One expression of the same language.
int parse_formula(std::string_view text, const Scope& scope, Tape& tape, Forms& forms);

/// The same, or a condition, which is a form of its own then (see Forms::is_condition).
int parse_formula_or_condition(std::string_view text, const Scope& scope, Tape& tape, Forms& forms);

/// A law stated by the user:
///     multiplier in law(w, numbers...)
///     0 <= a perp b >= 0
struct LawStatement {
  std::string multiplier{};    ///< of the first form, else ""
  std::string law{};           ///< of the first form: its name, else "complementarity"
  std::size_t law_offset = 0;  ///< where that name stands
  int argument = -1;           ///< line of w; of a in the second form
  std::vector<int> numbers{};  ///< lines of the law's numbers
  int partner = -1;            ///< line of b in the second form, else -1
};

/// Throws ExpressionError. A multiplier must be a name of the scope.
LawStatement parse_law(std::string_view text, const Scope& scope, Tape& tape, Forms& forms);

/// Byte at which a word (`perp`, `in`) stands by itself in a text, no part of a name; npos: nowhere.
std::size_t find_word(std::string_view text, std::string_view word);

/// A name and where it stands; empty: none.
struct DeclaredName {
  std::string name{};
  std::size_t offset = 0;
};

/// The multiplier that a law statement declares: the name before `in`, or a bare name on one side
/// of `perp` that the scope does not know. Throws ExpressionError where the text is neither form.
DeclaredName declared_multiplier(std::string_view text, const Scope& scope);

/// A text for the equation; parsing it again gives the same lines.
std::string print_equation(const Equation& equation, const Tape& tape,
                           const std::vector<std::string>& names, const Forms& forms);

}  // namespace perp

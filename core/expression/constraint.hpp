#pragma once

#include <string_view>

#include <perp/core/expression/expression.hpp>
#include <perp/core/expression/expression_forms.hpp>

namespace perp {

/// Parses `a <= b` or `a >= b` and returns the line of g, the constraint as g <= 0: a - b, or b -
/// a. The language of both sides is that of `parse_equation`. Throws ExpressionError, also for `=`,
/// `<` and `>`.
int parse_constraint(std::string_view text, const Scope& scope, Tape& tape, Forms& forms);

}  // namespace perp

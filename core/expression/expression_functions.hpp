#pragma once

#include <span>
#include <string_view>

#include <perp/core/tape/tape.hpp>

namespace perp {

/// How a function of the language is written and what it does.
struct ExpressionFunction {
  std::string_view name;
  int least_arguments;
  int most_arguments;  ///< more than two: folded from the left, min(a, b, c) = min(min(a, b), c)
  Operation operation;
};

/// In alphabetical order.
std::span<const ExpressionFunction> expression_functions();

/// a < b: of two names the first letters mostly tell.
inline bool precedes(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty() || a.front() == b.front()) return a < b;
  return static_cast<unsigned char>(a.front()) < static_cast<unsigned char>(b.front());
}

/// nullptr: there is none of that name.
const ExpressionFunction* find_function(std::string_view name);

/// Words kept for equations (der, if, step, ...), which no name may take although scalar
/// expressions do not know them.
bool is_equation_word(std::string_view name);

}  // namespace perp

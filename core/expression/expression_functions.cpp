#include <algorithm>
#include <array>
#include <climits>

#include <perp/core/expression/expression.hpp>
#include <perp/core/expression/expression_functions.hpp>
#include <perp/core/expression/expression_parser.hpp>

namespace perp {
namespace {

constexpr std::array function_table{
    ExpressionFunction{"abs", 1, 1, Operation::abs},
    ExpressionFunction{"acos", 1, 1, Operation::acos},
    ExpressionFunction{"asin", 1, 1, Operation::asin},
    ExpressionFunction{"atan", 1, 1, Operation::atan},
    ExpressionFunction{"atan2", 2, 2, Operation::atan2},
    ExpressionFunction{"cos", 1, 1, Operation::cos},
    ExpressionFunction{"cosh", 1, 1, Operation::cosh},
    ExpressionFunction{"exp", 1, 1, Operation::exp},
    ExpressionFunction{"log", 1, 1, Operation::log},
    ExpressionFunction{"log10", 1, 1, Operation::log10},
    ExpressionFunction{"max", 2, INT_MAX, Operation::max},
    ExpressionFunction{"min", 2, INT_MAX, Operation::min},
    ExpressionFunction{"pow", 2, 2, Operation::power},
    ExpressionFunction{"sign", 1, 1, Operation::sign},
    ExpressionFunction{"sin", 1, 1, Operation::sin},
    ExpressionFunction{"sinh", 1, 1, Operation::sinh},
    ExpressionFunction{"sqrt", 1, 1, Operation::sqrt},
    ExpressionFunction{"tan", 1, 1, Operation::tan},
    ExpressionFunction{"tanh", 1, 1, Operation::tanh},
};

constexpr std::array<std::string_view, 16> equation_words{
    "and", "deadzone", "der",       "else", "false", "hysteresis", "if",   "in",
    "not", "or",       "perp", "piecewise", "relay",    "sat",     "step", "true"};

// They are searched by halves.
static_assert(std::ranges::is_sorted(function_table, {}, &ExpressionFunction::name) && std::ranges::is_sorted(equation_words));

constexpr std::array<std::string_view, 5> constants{"inf", "nan", "pi", "t", "time"};

template <class List>
bool contains(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

/// Numbers with one comma between each two: "3", "1,2".
bool is_index(std::string_view text) {
  bool after_digit = false;
  for (const char c : text) {
    if (!is_digit(c) && (c != ',' || !after_digit)) return false;
    after_digit = is_digit(c);
  }
  return after_digit;
}

}  // namespace

std::span<const ExpressionFunction> expression_functions() { return function_table; }

const ExpressionFunction* find_function(std::string_view name) {
  const auto* found = std::ranges::lower_bound(function_table, name, precedes, &ExpressionFunction::name);
  return found == function_table.end() || found->name != name ? nullptr : found;
}

bool is_equation_word(std::string_view name) { return std::ranges::binary_search(equation_words, name, precedes); }

const std::vector<std::string>& function_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    list.reserve(function_table.size());
    for (const ExpressionFunction& f : function_table) list.emplace_back(f.name);
    return list;
  }();
  return names;
}

bool is_reserved_word(std::string_view name) {
  return contains(constants, name) || is_equation_word(name) || find_function(name) != nullptr;
}

std::size_t index_length(std::string_view text) {
  if (!text.starts_with('[')) return 0;
  const std::size_t end = text.find(']');
  if (end == std::string_view::npos || !is_index(text.substr(1, end - 1))) return 0;
  return end + 1;
}

bool is_name(std::string_view text) {
  if (text.empty() || !starts_name(text[0])) return false;
  std::size_t end = 1;
  while (end < text.size() && (starts_name(text[end]) || (text[end] >= '0' && text[end] <= '9')))
    ++end;
  return end + index_length(text.substr(end)) == text.size();
}

}  // namespace perp

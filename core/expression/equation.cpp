#include <fmt/format.h>
#include <algorithm>

#include <perp/core/expression/equation.hpp>
#include <perp/core/expression/expression_parser.hpp>

namespace perp {
namespace {

constexpr const char* law_shapes = "\"lambda in sign(x)\" or \"0 <= lambda perp x >= 0\"";

class EquationParser : public ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;

  Equation equation() {
    skip_space();
    if (at_end()) fail(0, text().size(), "the equation is empty; expected left = right");
    if (find_word(text(), "perp") != std::string_view::npos)
      fail(0, text().size(), "this is a law; expected it in 'laws' of [model], not among the equations");
    const int left = side();
    if (at_end()) fail(place(), 0, "found the end; expected '=': an equation is left = right");
    if (!take('=')) fail_at_token(misplaced("an operator or '='"));
    if (at_end()) fail(place(), 0, "found the end; expected the right side of the equation");
    const int right = side();
    if (!at_end()) fail_at_token(misplaced("an operator or the end"));
    return {left, right};
  }

  LawStatement law() {
    skip_space();
    LawStatement statement = next_name().empty() ? perpendicular() : membership();
    if (!at_end()) fail_at_token(misplaced("the end"));
    return statement;
  }

  DeclaredName declared() {
    skip_space();
    const std::size_t start = place();
    if (const std::string_view name = take_name(); !name.empty()) {
      if (!take_word("in")) fail_at_token(misplaced("'in', as in \"lambda in sign(x)\""));
      return {std::string(name), start};
    }
    return declared_by_sides(start);
  }

 private:
  /// Of the sides of perp, the one that is a name and not known yet.
  DeclaredName declared_by_sides(std::size_t start) {
    const std::size_t middle = find_word(text(), "perp");
    const auto end = text().rfind(">=");
    if (!take('0') || !take("<=") || middle == std::string_view::npos ||
        end == std::string_view::npos || end < middle)
      fail(start, text().size() - start, fmt::format("this is no law; expected {}", law_shapes));
    for (const DeclaredName& side : {bare_name(place(), middle), bare_name(middle + 4, end)})
      if (is_new(side.name)) return side;
    return {};
  }

  int side() {
    const std::size_t start = place();
    const int line = sum();
    require_value(line, start);
    return line;
  }

  LawStatement membership() {
    LawStatement statement;
    statement.multiplier = take_name();
    if (!take_word("in")) fail_at_token(misplaced("'in', as in \"lambda in sign(x)\""));
    statement.law_offset = place();
    statement.law = take_name();
    if (statement.law.empty()) fail_at_token(misplaced("a law, as in \"lambda in sign(x)\""));
    if (!take('(')) fail_at_token(misplaced("'(' and the law's argument"));
    statement.argument = side();
    while (take(',')) statement.numbers.push_back(side());
    expect_close();
    return statement;
  }

  LawStatement perpendicular() {
    LawStatement statement{.law = "complementarity", .law_offset = place()};
    if (!take('0') || !take("<=")) fail_at_token(misplaced(law_shapes));
    statement.argument = side();
    if (!take_word("perp")) fail_at_token(misplaced("an operator or 'perp'"));
    statement.partner = side();
    if (!take(">=") || !take('0')) fail_at_token(misplaced("an operator or '>= 0'"));
    return statement;
  }

  /// The name that stands alone between two places.
  [[nodiscard]] DeclaredName bare_name(std::size_t from, std::size_t to) const {
    if (from >= to) return {};
    const std::string_view part = text().substr(from, to - from);
    const std::size_t first = part.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    const std::string_view name = part.substr(first, part.find_last_not_of(" \t") + 1 - first);
    if (!is_name(name) || is_reserved_word(name)) return {};
    return {std::string(name), from + first};
  }

  [[nodiscard]] bool is_new(const std::string& name) const { return !name.empty() && !scope().index(name).has_value(); }
};

}  // namespace

Equation parse_equation(std::string_view text, const Scope& scope, Tape& tape, Forms& forms) {
  return EquationParser(text, scope, tape, &forms).equation();
}

int parse_formula(std::string_view text, const Scope& scope, Tape& tape, Forms& forms) {
  return EquationParser(text, scope, tape, &forms).whole();
}

int parse_formula_or_condition(std::string_view text, const Scope& scope, Tape& tape,
                               Forms& forms) {
  return EquationParser(text, scope, tape, &forms).whole_or_condition();
}

LawStatement parse_law(std::string_view text, const Scope& scope, Tape& tape, Forms& forms) {
  return EquationParser(text, scope, tape, &forms).law();
}

std::size_t find_word(std::string_view text, std::string_view word) {
  const auto joins = [&](std::size_t k) { return k < text.size() && is_name(std::string{'a', text[k]}); };
  std::size_t at = text.find(word);
  while (at != std::string_view::npos && ((at > 0 && joins(at - 1)) || joins(at + word.size())))
    at = text.find(word, at + 1);
  return at;
}

DeclaredName declared_multiplier(std::string_view text, const Scope& scope) {
  Tape none;
  return EquationParser(text, scope, none).declared();
}

std::string print_equation(const Equation& equation, const Tape& tape,
                           const std::vector<std::string>& names, const Forms& forms) {
  return print_expression(tape, equation.left, names, &forms) + " = " +
         print_expression(tape, equation.right, names, &forms);
}

}  // namespace perp

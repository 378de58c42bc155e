// Inequality constraints of models with binaries, as the reader of model files finds them.
#include <perp/core/expression/constraint.hpp>
#include <perp/core/expression/expression_parser.hpp>

namespace perp {
namespace {

class ConstraintParser : public ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;

  int constraint(Tape& tape) {
    skip_space();
    if (at_end()) fail(0, text().size(), "the constraint is empty; expected a <= b or a >= b");
    const int left = side();
    if (at_end()) fail(place(), 0, "found the end; expected '<=' or '>=': a constraint is a <= b");
    const bool is_upper = take("<=");
    if (!is_upper && !take(">=")) fail_relation();
    if (at_end()) fail(place(), 0, "found the end; expected the right side of the constraint");
    const int right = side();
    if (!at_end()) fail_at_token(misplaced("an operator or the end"));
    return is_upper ? difference(tape, left, right) : difference(tape, right, left);
  }

 private:
  int side() {
    const std::size_t start = place();
    const int line = sum();
    require_value(line, start);
    return line;
  }

  [[noreturn]] void fail_relation() {
    if (text()[place()] == '=')
      fail_at_token("found '='; expected '<=' or '>=': an equality is an equation");
    if (text()[place()] == '<')
      fail_at_token("found '<'; expected '<=': a constraint holds its end");
    if (text()[place()] == '>')
      fail_at_token("found '>'; expected '>=': a constraint holds its end");
    fail_at_token(misplaced("an operator, '<=' or '>='"));
  }

  /// a - b; a alone where b is the number 0, so that g is a product where it is written as one.
  static int difference(Tape& tape, int a, int b) {
    const auto is_zero = [&](int line) {
      return tape[line].operation == Operation::constant && tape[line].value == 0;
    };
    if (is_zero(b)) return a;
    if (is_zero(a)) return tape.apply(Operation::negate, b);
    return tape.apply(Operation::subtract, a, b);
  }
};

}  // namespace

int parse_constraint(std::string_view text, const Scope& scope, Tape& tape, Forms& forms) {
  return ConstraintParser(text, scope, tape, &forms).constraint(tape);
}

}  // namespace perp

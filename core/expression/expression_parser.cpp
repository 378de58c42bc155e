#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <limits>

#include <perp/core/base/nearest_name.hpp>
#include <perp/core/expression/expression_functions.hpp>
#include <perp/core/expression/expression_parser.hpp>

namespace perp {
/// Counts the nesting, so that no text can exhaust the stack.
class ExpressionParser::Level {
 public:
  explicit Level(ExpressionParser& parser) : parser_(parser) {
    // Two levels of the grammar count for every bracket.
    if (++parser.depth_ > 2 * max_expression_depth)
      fail(parser.at_, parser.token_length(),
           fmt::format("nested deeper than {} levels; split it with parameters",
                       max_expression_depth));
  }
  ~Level() { --parser_.depth_; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  ExpressionParser& parser_;
};

int ExpressionParser::whole() {
  skip_space();
  if (at_end()) fail(0, text_.size(), "the expression is empty; expected a number or a name");
  const std::size_t start = at_;
  const int result = sum();
  if (!at_end()) fail_at_token(misplaced("an operator (+ - * / ^) or the end"));
  require_value(result, start);
  return result;
}

int ExpressionParser::whole_or_condition() {
  skip_space();
  if (at_end()) fail(0, text_.size(), "the expression is empty; expected a number or a name");
  const int result = condition();
  if (!at_end()) fail_at_token(misplaced("an operator (+ - * / ^ < >) or the end"));
  return result;
}

int ExpressionParser::condition() {
  const std::size_t start = at_;
  int left = conjunction();
  while (take_word("or"))
    left = forms_->add(tape_, {FormKind::disjunction, {left, conjunction()}}, start);
  return left;
}

int ExpressionParser::conjunction() {
  const std::size_t start = at_;
  int left = negation();
  while (take_word("and"))
    left = forms_->add(tape_, {FormKind::conjunction, {left, negation()}}, start);
  return left;
}

int ExpressionParser::negation() {
  const Level level(*this);
  const std::size_t start = at_;
  if (take_word("not")) return forms_->add(tape_, {FormKind::negation, {negation()}}, start);
  return comparison();
}

bool ExpressionParser::at_comparison() const {
  return !at_end() && (text_[at_] == '<' || text_[at_] == '>');
}

int ExpressionParser::comparison() {
  const std::size_t start = at_;
  const int left = sum();
  if (!at_comparison()) return left;
  require_value(left, start);
  const FormKind kind = text_[at_] == '<' ? FormKind::less : FormKind::greater;
  ++at_;
  const bool holds_at_equality = !at_end() && text_[at_] == '=';
  if (holds_at_equality) ++at_;
  skip_space();
  const std::size_t right_start = at_;
  const int right = sum();
  require_value(right, right_start);
  if (at_comparison())
    fail(at_, 1,
         fmt::format("found '{}'; expected one comparison at a time, as in a < b and b < c",
                     text_[at_]));
  return forms_->add(tape_, {kind, {left, right}, holds_at_equality}, start);
}

int ExpressionParser::binary(Operation operation, int left, std::size_t left_start,
                             int (ExpressionParser::*next)()) {
  require_value(left, left_start);
  const std::size_t right_start = at_;
  const int right = (this->*next)();
  require_value(right, right_start);
  return tape_.apply(operation, left, right);
}

int ExpressionParser::sum() {
  const Level level(*this);
  const std::size_t start = at_;
  int left = product();
  while (true) {
    if (take('+'))
      left = binary(Operation::add, left, start, &ExpressionParser::product);
    else if (take('-'))
      left = binary(Operation::subtract, left, start, &ExpressionParser::product);
    else
      return left;
  }
}

int ExpressionParser::product() {
  const std::size_t start = at_;
  int left = signed_power();
  while (true) {
    if (take('*'))
      left = binary(Operation::multiply, left, start, &ExpressionParser::signed_power);
    else if (take('/'))
      left = binary(Operation::divide, left, start, &ExpressionParser::signed_power);
    else
      return left;
  }
}

int ExpressionParser::signed_power() {
  const Level level(*this);
  const bool is_negative = take('-');
  if (is_negative || take('+')) {
    const std::size_t start = at_;
    const int operand = signed_power();
    require_value(operand, start);
    return is_negative ? tape_.apply(Operation::negate, operand) : operand;
  }
  const std::size_t start = at_;
  const int base = primary();
  if (!take('^')) return base;
  return binary(Operation::power, base, start, &ExpressionParser::signed_power);
}

int ExpressionParser::primary() {
  if (take('(')) {
    const int inside = forms_ == nullptr ? sum() : condition();
    expect_close();
    return inside;
  }
  if (!at_end() && (is_digit(text_[at_]) || text_[at_] == '.')) return number();
  if (!at_end() && starts_name(text_[at_])) return name_or_call();
  fail_at_token(misplaced("a number, a name, a function or '('"));
}

int ExpressionParser::number() {
  const std::size_t start = at_;
  double value = 0;
  const char* first = text_.data() + at_;
  const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), value);
  const auto length = static_cast<std::size_t>(end - first);
  if (error == std::errc::result_out_of_range)
    fail(start, length,
         fmt::format("{} is outside the range of a double", text_.substr(start, length)));
  if (error != std::errc()) fail_at_token(misplaced("a number"));
  at_ += length;
  skip_space();
  // A literal that is an input: see enclosure::ExactLiterals.
  const auto exact = scope_.aliases.find(text_.substr(start, length));
  return exact == scope_.aliases.end() ? tape_.constant(value) : tape_.input(exact->second);
}

int ExpressionParser::name_or_call() {
  const std::size_t start = at_;
  const std::string_view name = take_name();
  const bool called = !at_end() && text_[at_] == '(';
  const FormFunction* form = forms_ == nullptr ? nullptr : find_form_function(name);
  const ExpressionFunction* function = find_function(name);
  if (form != nullptr || function != nullptr) {
    if (!called)
      fail_at_token(
          fmt::format("'{}' is a function: expected '(' after it but found {}", name, token()));
    if (form != nullptr) return form_call(*form, start);
    return call(function->name, function->operation, function->least_arguments,
                function->most_arguments, start);
  }
  if (is_equation_word(name)) return equation_word(name, start);
  if (called) fail_not_a_function(name, start);
  return named_value(name, start);
}

int ExpressionParser::named_value(std::string_view name, std::size_t start) {
  if (const std::optional<int> input = scope_.index(name)) return tape_.input(*input);
  if (name == "pi") return tape_.apply(Operation::pi);
  if (name == "inf") return tape_.constant(std::numeric_limits<double>::infinity());
  if (const auto reason = scope_.elsewhere.find(name); reason != scope_.elsewhere.end())
    fail(start, name.size(), fmt::format("'{}' cannot be used here: {}", name, *reason->second));
  std::vector<std::string> known = offered_names();
  const auto names = std::ssize(known);
  for (const auto& alias : scope_.aliases)
    if (is_offered(alias.first)) known.push_back(alias.first);
  std::sort(known.begin() + names, known.end());
  known.emplace_back("pi");
  const std::vector<std::string> functions = known_functions();
  known.insert(known.end(), functions.begin(), functions.end());
  fail(start, name.size(),
       fmt::format("unknown name '{}'; expected {}{}", name, expected_names(),
                   suggestion(name, known)));
}

/// der(x) where derivatives are inputs; nothing else has a place here.
int ExpressionParser::equation_word(std::string_view name, std::size_t start) {
  const bool is_derivative = name == "der" && !scope_.derivatives.empty() && !at_end() && text_[at_] == '(';
  if (!is_derivative) fail_equation_word(name, start);
  return derivative_value(start);
}

int ExpressionParser::derivative_value(std::size_t start) {
  take('(');
  const std::size_t operand_start = at_;
  const std::string_view name = take_name();
  const auto found = scope_.derivatives.find(name);
  if (found == scope_.derivatives.end() || at_end() || text_[at_] != ')') {
    std::vector<std::string> known;
    for (const auto& derivative : scope_.derivatives) known.push_back(derivative.first);
    fail(start, at_ - start,
         fmt::format("expected a variable with a derivative, as in der({}){}", known.front(),
                     suggestion(text_.substr(operand_start, name.size()), known)));
  }
  expect_close();
  return tape_.input(found->second);
}

int ExpressionParser::call(std::string_view name, Operation operation, int least, int most,
                           std::size_t start) {
  take('(');
  int count = 0;
  int result = -1;
  int second = -1;
  do {
    if (second >= 0) result = tape_.apply(operation, result, second);
    const std::size_t argument_start = at_;
    const int argument = sum();
    require_value(argument, argument_start);
    (count == 0 ? result : second) = argument;
    ++count;
  } while (take(','));
  expect_close();
  check_count(name, least, most, count, start);
  return tape_.apply(operation, result, second);
}

int ExpressionParser::form_call(const FormFunction& function, std::size_t start) {
  take('(');
  std::vector<int> operands;
  do {
    const std::size_t argument_start = at_;
    const bool is_condition = function.kind == FormKind::choice && operands.empty();
    const int argument = is_condition ? condition() : sum();
    if (!is_condition)
      require_value(argument, argument_start);
    else if (!at_end() && text_[at_] == '=')
      fail_at_token("found '='; expected < or >: an equality is no condition");
    else if (!forms_->is_condition(tape_, argument))
      fail(argument_start, at_ - argument_start,
           "the condition of 'if' is a number; expected a comparison, as in if(x < 0, a, b)");
    operands.push_back(argument);
  } while (take(','));
  expect_close();
  check_count(function.name, function.least_arguments, function.most_arguments,
              static_cast<int>(operands.size()), start);
  check_form(function, operands, start);
  return forms_->add(tape_, {function.kind, operands}, start);
}

void ExpressionParser::check_form(const FormFunction& function, const std::vector<int>& operands,
                                  std::size_t start) const {
  if (function.kind == FormKind::piecewise && operands.size() % 2 == 0)
    fail(start, at_ - start,
         fmt::format("piecewise has {} arguments; expected an odd number: "
                     "piecewise(w, x1, y1, x2, y2, ...)",
                     operands.size()));
  if (function.kind == FormKind::derivative) check_derivative(operands[0], start);
}

void ExpressionParser::check_derivative(int line, std::size_t start) const {
  const Instruction& operand = tape_[line];
  if (const Form* inner = forms_->find(tape_, line);
      inner != nullptr && inner->kind == FormKind::derivative)
    fail(start, at_ - start,
         "der of a derivative; expected a variable: introduce v with der(x) = v and write der(v)");
  if (operand.operation != Operation::input || operand.a >= scope_.variables)
    fail(start, at_ - start,
         fmt::format("der of {}; expected a variable, as in der({})", described(operand),
                     scope_.variables > 0 ? scope_.names[0] : "x"));
}

std::string ExpressionParser::described(const Instruction& operand) const {
  if (operand.operation == Operation::constant) return "a number";
  if (operand.operation == Operation::input && operand.a < forms_->first_input())
    return "'" + scope_.names[static_cast<std::size_t>(operand.a)] + "', which is no variable";
  return "an expression";
}

}  // namespace perp

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <limits>

#include <perp/core/expression.hpp>
#include <perp/core/expression_functions.hpp>
#include <perp/core/nearest_name.hpp>

namespace perp {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool starts_name(char c) { return is_name(std::string_view(&c, 1)); }

/// Recursive descent, one function per level of the grammar (see `parse_expression`).
class Parser {
 public:
  Parser(std::string_view text, const Scope& scope, Tape& tape)
      : text_(text), scope_(scope), tape_(tape) {}

  int whole() {
    skip_space();
    if (at_end()) fail(0, text_.size(), "the expression is empty; expected a number or a name");
    const int result = sum();
    if (!at_end()) fail_at_token(misplaced("an operator (+ - * / ^) or the end"));
    return result;
  }

 private:
  int sum() {
    const Level level(*this);
    int left = product();
    while (true) {
      if (take('+'))
        left = binary(Operation::add, left, product());
      else if (take('-'))
        left = binary(Operation::subtract, left, product());
      else
        return left;
    }
  }

  int product() {
    int left = signed_power();
    while (true) {
      if (take('*'))
        left = binary(Operation::multiply, left, signed_power());
      else if (take('/'))
        left = binary(Operation::divide, left, signed_power());
      else
        return left;
    }
  }

  int signed_power() {
    const Level level(*this);
    if (take('-')) return tape_.apply(Operation::negate, signed_power());
    if (take('+')) return signed_power();
    const int base = primary();
    if (!take('^')) return base;
    return binary(Operation::power, base, signed_power());
  }

  int primary() {
    if (take('(')) {
      const int inside = sum();
      expect_close();
      return inside;
    }
    if (!at_end() && (is_digit(text_[at_]) || text_[at_] == '.')) return number();
    if (!at_end() && starts_name(text_[at_])) return name_or_call();
    fail_at_token(misplaced("a number, a name, a function or '('"));
  }

  int number() {
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
    return tape_.constant(value);
  }

  // Later forms that are not functions of values (der, if, set-valued operators) branch off here.
  int name_or_call() {
    const std::size_t start = at_;
    while (at_ < text_.size() && (starts_name(text_[at_]) || is_digit(text_[at_]))) ++at_;
    const std::string_view name = text_.substr(start, at_ - start);
    skip_space();
    const bool called = !at_end() && text_[at_] == '(';
    if (const ExpressionFunction* function = find_function(name)) {
      if (!called)
        fail_at_token(
            fmt::format("'{}' is a function: expected '(' after it but found {}", name, token()));
      return call(*function, start);
    }
    if (is_equation_word(name))
      fail(start, name.size(),
           fmt::format("'{}' belongs to equations; expected an expression of single values", name));
    if (called) fail_not_a_function(name, start);
    return named_value(name, start);
  }

  int named_value(std::string_view name, std::size_t start) {
    if (const auto alias = scope_.aliases.find(name); alias != scope_.aliases.end())
      return tape_.input(alias->second);
    const auto found = std::find(scope_.names.begin(), scope_.names.end(), name);
    if (found != scope_.names.end())
      return tape_.input(static_cast<int>(found - scope_.names.begin()));
    if (name == "pi") return tape_.apply(Operation::pi);
    if (name == "inf") return tape_.constant(std::numeric_limits<double>::infinity());
    if (const auto reason = scope_.elsewhere.find(name); reason != scope_.elsewhere.end())
      fail(start, name.size(), fmt::format("'{}' cannot be used here: {}", name, reason->second));
    std::vector<std::string> known = scope_.names;
    for (const auto& alias : scope_.aliases) known.push_back(alias.first);
    known.emplace_back("pi");
    known.insert(known.end(), function_names().begin(), function_names().end());
    fail(start, name.size(),
         fmt::format("unknown name '{}'; expected {}{}", name, expected_names(),
                     suggestion(name, known)));
  }

  [[nodiscard]] std::string expected_names() const {
    constexpr std::size_t most = 8;
    if (scope_.names.empty()) return "a number (there are no names to use here)";
    if (scope_.names.size() == 1) return scope_.names[0];
    std::string list;
    for (std::size_t i = 0; i < std::min(most, scope_.names.size()); ++i)
      list += (i > 0 ? ", " : "") + scope_.names[i];
    return (scope_.names.size() > most ? "one of " + list + ", ..." : "one of " + list);
  }

  [[noreturn]] void fail_not_a_function(std::string_view name, std::size_t start) {
    const bool is_value =
        std::find(scope_.names.begin(), scope_.names.end(), name) != scope_.names.end() ||
        scope_.aliases.contains(name) || name == "pi" || name == "inf";
    if (is_value)
      fail(at_, 1, fmt::format("'{}' is not a function; expected an operator before '('", name));
    fail(start, name.size(),
         fmt::format("unknown function '{}'; expected one of {}{}", name,
                     fmt::join(function_names(), ", "), suggestion(name, function_names())));
  }

  int call(const ExpressionFunction& function, std::size_t start) {
    take('(');
    int result = sum();
    int count = 1;
    int second = -1;
    while (take(',')) {
      if (second >= 0) result = tape_.apply(function.operation, result, second);
      second = sum();
      ++count;
    }
    expect_close();
    if (count < function.least_arguments || count > function.most_arguments) {
      const bool open = function.most_arguments > 2;
      fail(
          start, at_ - start,
          fmt::format("{} takes {}{} argument{} but has {}", function.name, open ? "at least " : "",
                      function.least_arguments, function.least_arguments == 1 ? "" : "s", count));
    }
    return tape_.apply(function.operation, result, second);
  }

  int binary(Operation operation, int left, int right) {
    return tape_.apply(operation, left, right);
  }

  void expect_close() {
    if (!take(')')) fail_at_token(misplaced("')' or an operator"));
  }

  bool take(char c) {
    if (at_end() || text_[at_] != c) return false;
    ++at_;
    skip_space();
    return true;
  }

  void skip_space() {
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
  }

  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }

  /// Bytes of the token here: a name, a number, or one character of UTF-8.
  [[nodiscard]] std::size_t token_length() const {
    if (at_end()) return 0;
    std::size_t end = at_ + 1;
    const auto continues = [&](char c) {
      if (starts_name(text_[at_])) return starts_name(c) || is_digit(c);
      if (is_digit(text_[at_]) || text_[at_] == '.') return is_digit(c) || c == '.';
      return (static_cast<unsigned char>(text_[at_]) & 0x80U) != 0 &&
             (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
    };
    while (end < text_.size() && continues(text_[end])) ++end;
    return end - at_;
  }

  [[nodiscard]] std::string token() const {
    if (at_end()) return "the end";
    return fmt::format("'{}'", text_.substr(at_, token_length()));
  }

  [[nodiscard]] std::string misplaced(std::string_view expected) const {
    std::string message = fmt::format("found {}; expected {}", token(), expected);
    const std::string_view found = text_.substr(at_, token_length());
    if (found == "\u2212" || found == "\u2013") message += "; write '-' for minus";
    if (found == "\u00B7" || found == "\u00D7") message += "; write '*' for times";
    if (found == "*" && at_ > 0 && text_[at_ - 1] == '*') message += "; write '^' for powers";
    return message;
  }

  [[noreturn]] void fail_at_token(const std::string& message) const {
    fail(at_, token_length(), message);
  }

  [[noreturn]] static void fail(std::size_t offset, std::size_t length,
                                const std::string& message) {
    throw ExpressionError(message, offset, length);
  }

  /// Counts the nesting, so that no text can exhaust the stack.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) {
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
    Parser& parser_;
  };

  std::string_view text_;
  const Scope& scope_;
  Tape& tape_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

int parse_expression(std::string_view text, const Scope& scope, Tape& tape) {
  return Parser(text, scope, tape).whole();
}

}  // namespace perp

#pragma once

#include <string>
#include <string_view>

#include <perp/core/expression/expression.hpp>
#include <perp/core/expression/expression_forms.hpp>

namespace perp {

/// Of the ASCII characters, whatever the locale says.
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether a name may begin with the character.
inline bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// Of the index of an element of a family, "[3]" or "[1,2]", at the front of the text; 0: there is
/// none.
std::size_t index_length(std::string_view text);

/// Recursive descent, one function per level of the grammar (see `parse_expression`). With forms it
/// reads the language of equations, without them that of single values.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, const Scope& scope, Tape& tape, Forms* forms = nullptr)
      : text_(text), scope_(scope), tape_(tape), forms_(forms) {}

  /// The whole text as one expression.
  int whole();
  /// The same, or one comparison or conditions joined by and, or, not.
  int whole_or_condition();

 protected:
  // The grammar: each returns a line.
  int condition();
  int sum();

  /// Throws where the line is a condition, which is no number.
  void require_value(int line, std::size_t start) const;

  // Tokens.
  bool take(char c);
  bool take(std::string_view symbol);
  bool take_word(std::string_view word);
  /// A name at this place, "" where there is none; `take_name` goes past it.
  [[nodiscard]] std::string_view next_name() const;
  std::string_view take_name();
  void expect_close();
  void skip_space();
  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] std::size_t place() const { return at_; }
  [[nodiscard]] const Scope& scope() const { return scope_; }
  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] std::string misplaced(std::string_view expected) const;
  [[noreturn]] void fail_at_token(const std::string& message) const;
  [[noreturn]] static void fail(std::size_t offset, std::size_t length, const std::string& message);

 private:
  class Level;

  int conjunction();
  int negation();
  int comparison();
  int product();
  int signed_power();
  int primary();
  int number();
  int name_or_call();
  int named_value(std::string_view name, std::size_t start);
  int call(std::string_view name, Operation operation, int least, int most, std::size_t start);
  int equation_word(std::string_view name, std::size_t start);
  int derivative_value(std::size_t start);
  int form_call(const FormFunction& function, std::size_t start);
  void check_form(const FormFunction& function, const std::vector<int>& operands,
                  std::size_t start) const;
  /// Throws where der() is of no variable; `described` says of what.
  void check_derivative(int line, std::size_t start) const;
  [[nodiscard]] std::string described(const Instruction& operand) const;
  int binary(Operation operation, int left, std::size_t left_start,
             int (ExpressionParser::*next)());
  void check_count(std::string_view name, int least, int most, int count, std::size_t start) const;

  /// Does < or > follow?
  [[nodiscard]] bool at_comparison() const;
  [[nodiscard]] bool is_known_value(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> known_functions() const;
  /// May the name be written here, as none of a literal or of what is told to be elsewhere?
  [[nodiscard]] bool is_offered(const std::string& name) const;
  /// Of the scope's names, in declared order.
  [[nodiscard]] std::vector<std::string> offered_names() const;
  [[nodiscard]] std::string expected_names() const;
  [[noreturn]] void fail_not_a_function(std::string_view name, std::size_t start) const;
  [[noreturn]] void fail_equation_word(std::string_view name, std::size_t start) const;

  /// Bytes of the token here: a name, a number, or one character of UTF-8.
  [[nodiscard]] std::size_t token_length() const;
  [[nodiscard]] std::string token() const;

  std::string_view text_;
  const Scope& scope_;
  Tape& tape_;
  Forms* forms_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace perp

#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <perp/core/base/error.hpp>
#include <perp/core/tape/tape.hpp>

namespace perp {

class Forms;

/// A text is not an expression. `offset` and `length` are in bytes of the text; the message says
/// what was found, what was expected and the nearest known name, and does not repeat the place.
class ExpressionError : public InvalidInput {
 public:
  ExpressionError(const std::string& message, std::size_t offset, std::size_t length)
      : InvalidInput(message), offset_(offset), length_(length) {}
  [[nodiscard]] std::size_t offset() const { return offset_; }
  [[nodiscard]] std::size_t length() const { return length_; }

 private:
  std::size_t offset_;
  std::size_t length_;
};

/// A hash of names that is looked up by parts of texts.
struct NameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
};

/// The names an expression may use: names[i] is input i, and so is every alias of i.
struct Scope {
  std::vector<std::string> names;
  std::unordered_map<std::string, int, NameHash, std::equal_to<>> aliases{};  ///< e.g. {"time", index of "t"}
  using Reason = std::shared_ptr<const std::string>;  ///< of many names one
  /// Names that exist but not here, with the reason, e.g. {"t", "time may be used in b and q
  /// only"}.
  std::map<std::string, Reason, std::less<>> elsewhere{};
  int variables = 0;  ///< how many of the names, the first ones, der() may be applied to in equations
  /// Names that der() may be applied to in expressions, each with the input that holds the derivative.
  std::map<std::string, int, std::less<>> derivatives{};
  bool has_all_aliases = false;  ///< every name is an alias, too: none is searched for among all

  /// The input of this name or alias; nothing where it is neither.
  [[nodiscard]] std::optional<int> index(std::string_view name) const;
};

/// Parses a scalar expression onto a tape and returns its line. The language, weakest first:
///     sum      a + b, a - b              from the left
///     product  a * b, a / b              from the left
///     sign     -a, +a                    weaker than a power: -x^2 = -(x^2)
///     power    a ^ b                     from the right; the exponent may have a sign: 2^-3
///     primary  number, name, pi, inf, f(a, ...), (a)
/// with the functions of `function_names`. Throws ExpressionError; also where brackets, signs and
/// powers are nested deeper than `max_expression_depth`.
int parse_expression(std::string_view text, const Scope& scope, Tape& tape);

inline constexpr int max_expression_depth = 200;

/// A text for one line of a tape, with as few brackets as keep its shape: parsing it again onto an
/// empty tape gives the lines that this one needs, in an order that printing and parsing keep.
/// With `forms` it prints the language of equations.
std::string print_expression(const Tape& tape, int line, std::span<const std::string> names,
                             const Forms* forms = nullptr);

/// One scalar expression of named inputs.
class Expression {
 public:
  Expression() = default;
  /// Throws ExpressionError.
  Expression(std::string_view text, const Scope& scope)
      : names_(scope.names), line_(parse_expression(text, scope, tape_)) {}

  /// The value at `inputs` (one per name of the scope).
  template <class T>
  [[nodiscard]] T evaluate(std::span<const T> inputs) const {
    std::vector<T> values(static_cast<std::size_t>(tape_.size()), T(0));
    tape_.evaluate(inputs, std::span<T>(values));
    return values[static_cast<std::size_t>(line_)];
  }
  [[nodiscard]] double operator()(std::span<const double> inputs) const { return evaluate(inputs); }

  [[nodiscard]] const Tape& tape() const { return tape_; }
  [[nodiscard]] int line() const { return line_; }
  [[nodiscard]] std::string print() const { return print_expression(tape_, line_, names_); }

 private:
  std::vector<std::string> names_;
  Tape tape_;
  int line_ = -1;
};

/// Names of the functions, in alphabetical order.
const std::vector<std::string>& function_names();

/// Is this a word of the language, which no parameter or variable may be called: a function, a
/// named constant, time, or a word kept for equations (der, if, and, or, not, step, ...)?
bool is_reserved_word(std::string_view name);

/// Can this be the name of something: a letter or _ first, then letters, digits and _?
bool is_name(std::string_view text);

}  // namespace perp

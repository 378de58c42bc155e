#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <perp/core/expression/expression.hpp>
#include <perp/core/expression/expression_forms.hpp>
#include <perp/core/expression/expression_functions.hpp>
#include <perp/core/expression/expression_parser.hpp>

namespace perp {
namespace {

enum Precedence {
  or_level = -4,
  and_level,
  not_level,
  comparison_level,
  argument_level = 0,
  sum_level,
  product_level,
  sign_level,
  power_level,
  primary_level
};

int precedence(const Instruction& line) {
  switch (line.operation) {
    case Operation::constant: return std::signbit(line.value) ? sign_level : primary_level;
    case Operation::add:
    case Operation::subtract: return sum_level;
    case Operation::multiply:
    case Operation::divide: return product_level;
    case Operation::negate: return sign_level;
    case Operation::power: return power_level;
    default: return primary_level;
  }
}

const char* symbol(Operation operation) {
  switch (operation) {
    case Operation::add: return " + ";
    case Operation::subtract: return " - ";
    case Operation::multiply: return "*";
    case Operation::divide: return "/";
    default: return "^";
  }
}

std::string print_number(double value) {
  std::array<char, 32> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), result.ptr};
}

std::string_view function_name(Operation operation) {
  for (const ExpressionFunction& function : expression_functions())
    if (function.operation == operation) return function.name;
  if (operation == Operation::guard) return "guard";
  return operation == Operation::table ? "table" : "?";
}

/// A piece of output that is still to be written: a text, or a line of the tape in a place that
/// needs at least this precedence.
struct Pending {
  std::string_view text;
  int line = -1;
  int least = argument_level;
};

int precedence(const Form& form) {
  switch (form.kind) {
    case FormKind::less:
    case FormKind::greater: return comparison_level;
    case FormKind::conjunction: return and_level;
    case FormKind::disjunction: return or_level;
    case FormKind::negation: return not_level;
    default: return primary_level;
  }
}

/// What a form is made of, in the order of the text.
std::vector<Pending> parts(const Form& form) {
  const std::string_view at_equality = form.kind == FormKind::less ? "<=" : ">=";
  const std::string_view word = form.holds_at_equality ? at_equality : form_word(form.kind);
  const int level = precedence(form);
  const std::vector<int>& operands = form.operands;
  if (level == comparison_level)
    return {{{}, operands[0], sum_level}, {" "}, {word}, {" "}, {{}, operands[1], sum_level}};
  if (level == not_level) return {{"not "}, {{}, operands[0], not_level}};
  if (level < argument_level)  // and, or: from the left
    return {{{}, operands[0], level}, {" "}, {word}, {" "}, {{}, operands[1], level + 1}};
  std::vector<Pending> list{{word}, {"("}};
  for (std::size_t k = 0; k < operands.size(); ++k) {
    if (k > 0) list.push_back({", "});
    const bool is_condition = form.kind == FormKind::choice && k == 0;
    list.push_back({{}, operands[k], is_condition ? or_level : argument_level});
  }
  list.push_back({")"});
  return list;
}

// With a stack of its own: a sum of a million terms is a tape as deep as that.
class Printer {
 public:
  Printer(const Tape& tape, std::span<const std::string> names, const Forms* forms)
      : tape_(tape), names_(names), forms_(forms) {}

  std::string print(int line) {
    stack_.push_back({{}, line, or_level});
    while (!stack_.empty()) {
      const Pending next = stack_.back();
      stack_.pop_back();
      if (next.line < 0)
        out_ += next.text;
      else
        write(next.line, next.least);
    }
    return std::move(out_);
  }

 private:
  /// A line in a place that needs at least this precedence: its first text, the rest on the stack.
  void write(int line, int least) {
    const Instruction& here = tape_[line];
    const Form* form = forms_ == nullptr ? nullptr : forms_->find(tape_, line);
    const int level = form != nullptr ? precedence(*form) : precedence(here);
    if (level < least) {
      out_ += '(';
      stack_.push_back({")"});
    }
    if (form == nullptr) return write(here, level);
    const std::vector<Pending> list = parts(*form);
    stack_.insert(stack_.end(), list.rbegin(), list.rend());
  }

  void write(const Instruction& here, int level) {
    switch (here.operation) {
      case Operation::constant: out_ += print_number(here.value); break;
      case Operation::pi: out_ += "pi"; break;
      case Operation::input: out_ += names_[static_cast<std::size_t>(here.a)]; break;
      case Operation::negate:
        out_ += '-';
        stack_.push_back({{}, here.a, sign_level});
        break;
      case Operation::power: push_binary(here, primary_level, sign_level); break;
      default:
        if (level == sum_level || level == product_level)  // from the left
          push_binary(here, level, level + 1);
        else
          write_call(here);
    }
  }

  /// The operands with the precedences that they need at least, and the symbol between them.
  void push_binary(const Instruction& here, int left, int right) {
    stack_.push_back({{}, here.b, right});
    stack_.push_back({symbol(here.operation)});
    stack_.push_back({{}, here.a, left});
  }

  void write_call(const Instruction& here) {
    out_ += function_name(here.operation);
    out_ += '(';
    stack_.push_back({")"});
    if (here.b >= 0) {
      stack_.push_back({{}, here.b, 0});
      stack_.push_back({", "});
    }
    stack_.push_back({{}, here.a, 0});
  }

  const Tape& tape_;
  std::span<const std::string> names_;
  const Forms* forms_;
  std::string out_;
  std::vector<Pending> stack_;
};

}  // namespace

int parse_expression(std::string_view text, const Scope& scope, Tape& tape) {
  return ExpressionParser(text, scope, tape).whole();
}

std::string print_expression(const Tape& tape, int line, std::span<const std::string> names,
                             const Forms* forms) {
  return Printer(tape, names, forms).print(line);
}

}  // namespace perp

#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <perp/core/tape/tape.hpp>

namespace perp {

/// What equations have besides scalar functions: derivatives, set-valued operators, conditions.
enum class FormKind {
  derivative,   ///< der(x)
  sign,         ///< sign(w)
  absolute,     ///< abs(w)
  maximum,      ///< max(a, b, ...)
  minimum,      ///< min(a, b, ...)
  step,         ///< step(w)
  saturation,   ///< sat(w, lower, upper)
  dead_zone,    ///< deadzone(w, lower, upper)
  piecewise,    ///< piecewise(w, x1, y1, x2, y2, ...)
  choice,       ///< if(condition, a, b)
  less,         ///< a < b, also written a <= b: as set-valued laws they are the same
  greater,      ///< a > b, a >= b
  conjunction,  ///< a and b
  disjunction,  ///< a or b
  negation      ///< not a
};

/// One form on lines of a tape.
struct Form {
  FormKind kind = FormKind::derivative;
  std::vector<int> operands{};
  bool holds_at_equality = false;  ///< of a comparison: a <= b, a >= b. It decides between constants alone

  friend auto operator<=>(const Form&, const Form&) = default;
};

/// Where a form was first written: byte `offset` of text number `text`.
struct FormPlace {
  int text = 0;
  std::size_t offset = 0;
};

/// The forms of a tape. On the tape form k is the input first_input + k, so that scalar operations
/// stay what they are; equal forms on equal lines are one form.
class Forms {
 public:
  explicit Forms(int first_input) : first_input_(first_input) {}

  /// The line of the form, an old one where there is one.
  int add(Tape& tape, const Form& form, std::size_t offset);
  /// The text that the places of new forms belong to.
  void set_text(int text) { text_ = text; }

  /// nullptr: the line is not a form.
  [[nodiscard]] const Form* find(const Tape& tape, int line) const;
  [[nodiscard]] const FormPlace& place(const Tape& tape, int line) const;
  /// Is the line a condition: a comparison, or conditions joined by and, or, not?
  [[nodiscard]] bool is_condition(const Tape& tape, int line) const;
  [[nodiscard]] int first_input() const { return first_input_; }

 private:
  int first_input_;
  int text_ = 0;
  std::vector<Form> forms_;
  std::vector<FormPlace> places_;
  std::map<Form, int> known_;
};

/// How a form that looks like a function is written.
struct FormFunction {
  std::string_view name;
  FormKind kind;
  int least_arguments;
  int most_arguments;
};

/// In alphabetical order.
std::span<const FormFunction> form_functions();

/// nullptr: there is none of that name.
const FormFunction* find_form_function(std::string_view name);

/// The name of a form that looks like a function, "and", "or", "not", "<" or ">".
std::string_view form_word(FormKind kind);

}  // namespace perp

#include <algorithm>
#include <array>
#include <climits>

#include <perp/core/expression/expression_forms.hpp>
#include <perp/core/expression/expression_functions.hpp>

namespace perp {
namespace {

constexpr std::array forms{
    FormFunction{"abs", FormKind::absolute, 1, 1},
    FormFunction{"deadzone", FormKind::dead_zone, 3, 3},
    FormFunction{"der", FormKind::derivative, 1, 1},
    FormFunction{"if", FormKind::choice, 3, 3},
    FormFunction{"max", FormKind::maximum, 2, INT_MAX},
    FormFunction{"min", FormKind::minimum, 2, INT_MAX},
    FormFunction{"piecewise", FormKind::piecewise, 5, INT_MAX},
    FormFunction{"sat", FormKind::saturation, 3, 3},
    FormFunction{"sign", FormKind::sign, 1, 1},
    FormFunction{"step", FormKind::step, 1, 1},
};

static_assert(std::ranges::is_sorted(forms, {}, &FormFunction::name));  // they are searched by halves

}  // namespace

int Forms::add(Tape& tape, const Form& form, std::size_t offset) {
  const auto [known, is_new] = known_.try_emplace(form, static_cast<int>(forms_.size()));
  if (is_new) {
    forms_.push_back(form);
    places_.push_back({text_, offset});
  }
  return tape.input(first_input_ + known->second);
}

const Form* Forms::find(const Tape& tape, int line) const {
  const Instruction& here = tape[line];
  if (here.operation != Operation::input || here.a < first_input_) return nullptr;
  return &forms_[static_cast<std::size_t>(here.a - first_input_)];
}

const FormPlace& Forms::place(const Tape& tape, int line) const {
  return places_[static_cast<std::size_t>(tape[line].a - first_input_)];
}

bool Forms::is_condition(const Tape& tape, int line) const {
  const Form* form = find(tape, line);
  return form != nullptr && form->kind >= FormKind::less;
}

std::span<const FormFunction> form_functions() { return forms; }

const FormFunction* find_form_function(std::string_view name) {
  const auto* found = std::ranges::lower_bound(forms, name, precedes, &FormFunction::name);
  return found == forms.end() || found->name != name ? nullptr : found;
}

std::string_view form_word(FormKind kind) {
  switch (kind) {
    case FormKind::less: return "<";
    case FormKind::greater: return ">";
    case FormKind::conjunction: return "and";
    case FormKind::disjunction: return "or";
    case FormKind::negation: return "not";
    default: break;
  }
  return std::find_if(forms.begin(), forms.end(),
                      [kind](const FormFunction& f) { return f.kind == kind; })
      ->name;
}

}  // namespace perp

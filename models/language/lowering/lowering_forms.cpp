#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>

#include <perp/models/language/lowering/forms.hpp>

namespace perp::lowering {
namespace {

int first_parameter(const EquationModel& model) { return 1 + 2 * model.n(); }

/// The lines that equations and laws depend on wherever the conditions of `if` lead.
std::vector<char> unconditional_lines(const EquationModel& model) {
  std::vector<char> counts(static_cast<std::size_t>(model.tape.size()), 0);
  const auto need = [&](int line) {
    if (line >= 0) counts[static_cast<std::size_t>(line)] = 1;
  };
  for (const Equation& equation : model.equations) need(equation.left), need(equation.right);
  for (const StatedLaw& stated : model.laws) need(stated.argument);
  for (int line = model.tape.size() - 1; line >= 0; --line) {
    if (counts[static_cast<std::size_t>(line)] == 0) continue;
    const Form* form = model.forms.find(model.tape, line);
    if (form == nullptr) {
      if (model.tape[line].operation == Operation::input) continue;
      need(model.tape[line].a);
      need(model.tape[line].b);
    } else if (form->kind == FormKind::choice) {
      need(form->operands[0]);
    } else {
      for (const int operand : form->operands) need(operand);
    }
  }
  return counts;
}

/// About as many lines as a model without laws has when its forms are gone: a difference of both sides for each equation.
std::size_t room_for(const EquationModel& model) {
  return static_cast<std::size_t>(model.tape.size()) + model.equations.size();
}

/// λ = 0 as long as w >= 0, and nothing beyond.
Law requirement(const std::string& name, const std::string& branch) {
  return {name, {{0, 1, 0, {0, inf}, {}, branch}}};
}

}  // namespace

FormLowering::FormLowering(const EquationModel& model)
    : model_(model),
      tape_(empty_tape(room_for(model))),
      algebra_(tape_, first_parameter(model), model.parameters, model.exact_parameters()),
      aliases_(algebra_, model),
      switches_(algebra_, aliases_, first_parameter(model) + static_cast<int>(model.parameters.size())),
      branches_(model),
      always_counts_(unconditional_lines(model)) {
  switches_.reserve(model.laws.size());
  for (const StatedLaw& stated : model.laws) switches_.add_stated_law(stated.law);
}

int FormLowering::input(int old_input) {
  const int n = model_.n();
  const int m = static_cast<int>(model_.laws.size());
  const int k = static_cast<int>(model_.parameters.size());
  if (old_input < n) return tape_.input(1 + n + old_input);
  if (old_input < n + m) return multiplier(old_input - n);
  if (old_input < n + m + k) return tape_.input(1 + 2 * n + old_input - n - m);
  return tape_.input(Dcs::time_input());
}

/// λ, or o + s μ.
int FormLowering::multiplier(int law) {
  const StatedLaw& stated = model_.laws[static_cast<std::size_t>(law)];
  const int mu = switches_.multiplier(law);
  if (stated.scale < 0) return mu;
  const int offset = tape_.input(first_parameter(model_) + stated.offset);
  const int scale = tape_.input(first_parameter(model_) + stated.scale);
  return algebra_.add(offset, algebra_.multiply(scale, mu));
}

void FormLowering::lower_until(int end, bool creates) {
  creates_ = creates;
  for (int old = static_cast<int>(lines_.size()); old < end; ++old) {
    const Instruction& here = model_.tape[old];
    if (model_.forms.find(model_.tape, old) != nullptr)
      lines_.push_back(form(old));
    else if (here.operation == Operation::input)
      lines_.push_back(input(here.a));
    else if (here.operation == Operation::constant)
      lines_.push_back(tape_.constant(here.value));
    else
      lines_.push_back(operation(old));
  }
}

namespace {

/// A text as a part of the name of a law: of arguments that vary <= and < are one law.
std::string name_of(std::string text) {
  for (const char* sign : {"<= ", ">= "})
    for (std::size_t at = text.find(sign); at != std::string::npos; at = text.find(sign, at)) text.erase(at + 1, 1);
  return text;
}

/// The operand on which it depends whether an operation has a finite value; none: it has one for all.
enum class Delicate { none, first, second };

Delicate delicate_operand(Operation operation) {
  constexpr std::array second{Operation::divide, Operation::atan2};
  constexpr std::array first{Operation::power, Operation::sqrt, Operation::log, Operation::log10, Operation::asin,
                             Operation::acos,  Operation::tan,  Operation::exp, Operation::sinh,  Operation::cosh};
  if (std::find(second.begin(), second.end(), operation) != second.end()) return Delicate::second;
  return std::find(first.begin(), first.end(), operation) != first.end() ? Delicate::first : Delicate::none;
}

}  // namespace

/// Is it a power with a constant exponent 0, 1, 2, ..?
bool FormLowering::is_natural_power(Operation operation, int exponent) {
  return operation == Operation::power && algebra_.is_known(exponent) && algebra_.value(exponent) >= 0 &&
         std::floor(algebra_.value(exponent)) == algebra_.value(exponent);
}

/// An elementary operation. In a branch of `if` that does not count, where its argument may leave its
/// domain, the argument is 1/2: what it is multiplied with is 0 there, but 0 times NaN is not.
int FormLowering::operation(int old) {
  const Instruction& here = model_.tape[old];
  int a = here.a < 0 ? -1 : line(here.a), b = here.b < 0 ? -1 : line(here.b);
  switch (is_natural_power(here.operation, b) ? Delicate::none : delicate_operand(here.operation)) {
    case Delicate::none: break;
    case Delicate::first: a = guarded(old, a); break;
    case Delicate::second: b = guarded(old, b); break;
  }
  return tape_.apply(here.operation, a, b);
}

int FormLowering::guarded(int old, int argument) {
  // Where numbers are exact sets of states are meant, and no product with 0 is taken of what has no value.
  if (algebra_.is_exact()) return argument;
  const int branch = branches_.of(old);
  if (branch == IfBranches::none || algebra_.is_known(argument)) return argument;
  return algebra_.guard(weight(branch), argument);
}

/// The product of θ or 1 − θ of the conditions around.
int FormLowering::weight(int branch) {
  if (branch == IfBranches::none) return algebra_.number(1);
  weights_.resize(std::max(weights_.size(), static_cast<std::size_t>(branch) + 1), -1);
  if (const int known = weights_[static_cast<std::size_t>(branch)]; known >= 0) return known;
  const IfBranches::Branch& here = branches_[branch];
  const int theta = line(here.condition);
  const int own = here.holds ? theta : algebra_.subtract(algebra_.number(1), theta);
  return weights_[static_cast<std::size_t>(branch)] = algebra_.multiply(weight(here.outer), own);
}

int FormLowering::form(int old) {
  const Form& form = *model_.forms.find(model_.tape, old);
  if (form.kind == FormKind::derivative) return tape_.input(1 + model_.tape[form.operands[0]].a);
  const FormPlace place = model_.forms.place(model_.tape, old);
  const std::string text = name_of(print_expression(model_.tape, old, model_.scope.names, &model_.forms));
  const auto w = [&] {
    const std::string argument = print(form, 0);
    return switches_.find(settled(operand(form, 0)), {text, argument + " < 0", argument + " > 0"}, creates_);
  };
  switch (form.kind) {
    case FormKind::sign: return switches_.sign(w());
    case FormKind::step: require_side(settled(operand(form, 0)), text, place); return switches_.step(w());
    case FormKind::absolute: {
      const int argument = settled(operand(form, 0));
      if (algebra_.is_known(argument)) return algebra_.apply(Operation::abs, argument, -1);
      return switches_.absolute(w());
    }
    case FormKind::maximum:
    case FormKind::minimum: return folded_maximum(form, text);
    case FormKind::saturation: require_bounds(old, text); return saturation(form, text, place);
    case FormKind::dead_zone: require_bounds(old, text); return dead_zone(form, text, place);
    case FormKind::piecewise: return piecewise(form, text, place);
    case FormKind::choice: return choice(form);
    default: return condition(form, text);
  }
}

/// Of a constant 0 a step has no value that one could choose.
void FormLowering::require_side(int argument, const std::string& text, FormPlace place) {
  if (!algebra_.is_known(argument) || algebra_.sign(argument) != 0) return;
  throw FormError(fmt::format("the argument of {} is the constant 0, where it is any number in [0, 1]; expected a comparison that "
                              "decides there, e.g. if(a >= b, 1, 0)",
                              text),
                  place);
}

std::string FormLowering::print(const Form& form, std::size_t k) const {
  return name_of(print_expression(model_.tape, form.operands[k], model_.scope.names, &model_.forms));
}

int FormLowering::folded_maximum(const Form& form, const std::string& text) {
  const bool is_maximum = form.kind == FormKind::maximum;
  Asked asked{text};
  if (form.operands.size() == 2) {
    const std::size_t first = algebra_.is_known(operand(form, 0)) ? 1 : 0;
    asked.negative = print(form, first) + " < " + print(form, 1 - first);
    asked.positive = print(form, first) + " > " + print(form, 1 - first);
  }
  int result = operand(form, 0);
  for (std::size_t k = 1; k < form.operands.size(); ++k)
    result = is_maximum ? maximum(result, operand(form, k), asked)
                        : minimum(result, operand(form, k), asked);
  return result;
}

/// max(a, b) = b + max(0, a - b), with the constant one of them as b.
int FormLowering::maximum(int a, int b, const Asked& asked) {
  if (algebra_.is_known(a)) std::swap(a, b);
  if (algebra_.is_known(a)) return algebra_.apply(Operation::max, a, b);
  const auto w = switches_.find(settled(algebra_.subtract(a, b)), asked, creates_);
  return algebra_.add(b, switches_.positive_part(w));
}

/// min(a, b) = a - max(0, a - b), so that it shares its law with max(a, b).
int FormLowering::minimum(int a, int b, const Asked& asked) {
  if (algebra_.is_known(a)) std::swap(a, b);
  if (algebra_.is_known(a)) return algebra_.apply(Operation::min, a, b);
  const auto w = switches_.find(settled(algebra_.subtract(a, b)), asked, creates_);
  return algebra_.subtract(a, switches_.positive_part(w));
}

int FormLowering::own_law(const Law& law, int argument, const std::string& text) {
  Law named = law;
  named.name = text;
  return switches_.multiplier(switches_.add_law(named, text, argument));
}

bool FormLowering::are_numbers(int a, int b) {
  return algebra_.dependence(a) == Dependence::nothing && algebra_.dependence(b) == Dependence::nothing;
}

bool FormLowering::are_finite(int a, int b) {
  return algebra_.is_known(a) && algebra_.is_known(b) && std::isfinite(algebra_.value(a)) &&
         std::isfinite(algebra_.value(b));
}

bool FormLowering::are_in_order(int lower, int upper) {
  return algebra_.is_exact() && are_finite(lower, upper)
             ? algebra_.interval(lower).hi <= algebra_.interval(upper).lo
             : algebra_.value(lower) <= algebra_.value(upper);
}

void FormLowering::check_bounds(int lower, int upper, const std::string& text, FormPlace place) {
  if (!algebra_.is_known(lower) || !algebra_.is_known(upper)) return;
  const bool in_order = are_in_order(lower, upper);
  const bool has_room = algebra_.value(lower) < inf && algebra_.value(upper) > -inf;
  if (in_order && has_room) return;
  throw FormError(fmt::format("the bounds of {} are {} and {}; expected {}", text, algebra_.value(lower),
                              algebra_.value(upper),
                              in_order ? "numbers between them" : "lower <= upper"),
                  place);
}

/// Bounds that move must stay in order, else the operator has no value: a law whose w is their distance
/// has no branch below 0. Within the branches of an `if` nobody may ask for it.
void FormLowering::require_bounds(int old, const std::string& text) {
  const Form& form = *model_.forms.find(model_.tape, old);
  const int lower = operand(form, 1), upper = operand(form, 2);
  const bool is_checked = (algebra_.is_known(lower) && algebra_.is_known(upper)) || !is_end(lower) || !is_end(upper);
  if (is_checked || !creates_ || algebra_.is_exact() || always_counts_[static_cast<std::size_t>(old)] == 0)
    return;
  const std::string order = print(form, 1) + " <= " + print(form, 2);
  switches_.add_requirement(requirement(order + " in " + text, order), algebra_.subtract(upper, lower));
}

/// sat(w, l, u) = l + (u - l) sat((w - l)/(u - l), 0, 1): one law, whose data no parameter enters.
int FormLowering::unit_saturation(int w, int lower, int upper, const std::string& text) {
  const int width = algebra_.subtract(upper, lower);
  const int argument = algebra_.divide(algebra_.subtract(w, lower), width);
  const int part = own_law(perp::saturation(0, 1), argument, text);
  return algebra_.add(lower, algebra_.multiply(width, part));
}

/// Does this bound end anything? An infinite one does not.
bool FormLowering::is_end(int bound) { return !algebra_.is_known(bound) || std::isfinite(algebra_.value(bound)); }

int FormLowering::clamped(int w, int lower, int upper, const std::string& text) {
  const int below = is_end(upper) ? minimum(w, upper, {text}) : w;
  return is_end(lower) ? maximum(below, lower, {text}) : below;
}

int FormLowering::saturation(const Form& form, const std::string& text, FormPlace place) {
  const int w = operand(form, 0);
  const int lower = operand(form, 1);
  const int upper = operand(form, 2);
  check_bounds(lower, upper, text, place);
  if (!creates_ || algebra_.is_known(w) || !are_finite(lower, upper) ||
      !algebra_.is_less(lower, upper))
    return clamped(w, lower, upper, text);
  if (are_numbers(lower, upper))
    return own_law(perp::saturation(algebra_.value(lower), algebra_.value(upper)), w, text);
  return unit_saturation(w, lower, upper, text);
}

int FormLowering::dead_zone(const Form& form, const std::string& text, FormPlace place) {
  const int w = operand(form, 0);
  const int lower = operand(form, 1);
  const int upper = operand(form, 2);
  check_bounds(lower, upper, text, place);
  if (creates_ && !algebra_.is_known(w) && are_numbers(lower, upper) && are_finite(lower, upper))
    return own_law(perp::dead_zone(algebra_.value(lower), algebra_.value(upper)), w, text);
  // max(0, w - u) - max(0, l - w), without the side on which it has no end
  const int zero = algebra_.number(0);
  const int above = is_end(upper) ? maximum(algebra_.subtract(w, upper), zero, {text}) : zero;
  const int below = is_end(lower) ? maximum(algebra_.subtract(lower, w), zero, {text}) : zero;
  return algebra_.subtract(above, below);
}

int FormLowering::condition(const Form& form, const std::string& text) {
  switch (form.kind) {
    case FormKind::conjunction: return algebra_.multiply(operand(form, 0), operand(form, 1));
    case FormKind::disjunction: {
      const int a = operand(form, 0);
      const int b = operand(form, 1);
      if (algebra_.is_number(a, 1) || algebra_.is_number(b, 1)) return algebra_.number(1);
      return algebra_.subtract(algebra_.add(a, b), algebra_.multiply(a, b));
    }
    case FormKind::negation: return algebra_.subtract(algebra_.number(1), operand(form, 0));
    default:
      if (const int theta = at_equality(form); theta >= 0) return theta;
      return switches_.step(comparison(form, text));
  }
}

int FormLowering::settled(int line) {
  const int constant = algebra_.constant_of(line);
  return constant < 0 ? line : constant;
}

int FormLowering::excess(const Form& form) {
  const bool is_less = form.kind == FormKind::less;
  return settled(algebra_.subtract(operand(form, is_less ? 1 : 0), operand(form, is_less ? 0 : 1)));
}

/// θ of constants that are the same. Of parameters it is max(0, s), or 1 + min(0, s) where equality holds, with s = sign(0): who
/// moves them finds a kink there. -1: its operands are not known to be the same.
int FormLowering::at_equality(const Form& form) {
  const int w = excess(form);
  if (!algebra_.is_known(w) || algebra_.sign(w) != 0) return -1;
  const int never = algebra_.number(0), always = algebra_.number(1);
  if (algebra_.is_exact() || algebra_.dependence(w) == Dependence::nothing) return form.holds_at_equality ? always : never;
  const int s = algebra_.apply(Operation::sign, w, -1);
  return form.holds_at_equality ? algebra_.add(always, algebra_.apply(Operation::min, s, never)) : algebra_.apply(Operation::max, s, never);
}

/// The argument that is positive where the comparison holds, so that the multiplier of a law that a
/// comparison makes is 1 where it is true.
Switches::Argument FormLowering::comparison(const Form& form, const std::string& text) {
  return switches_.find(excess(form), {.text = text, .is_condition = true}, creates_);
}

int FormLowering::choice(const Form& form) {
  const int theta = operand(form, 0);
  const int a = operand(form, 1);
  const int b = operand(form, 2);
  // Of constants: the branch alone, with what is 0 where θ is a formula of parameters.
  if (algebra_.is_known(theta) && algebra_.value(theta) == 1) return algebra_.add(a, algebra_.subtract(theta, algebra_.number(1)));
  if (algebra_.is_known(theta) && algebra_.value(theta) == 0) return algebra_.add(b, theta);
  // `not` before a comparison exchanges the branches.
  int old = form.operands[0];
  bool exchanged = false;
  const Form* test = model_.forms.find(model_.tape, old);
  while (test->kind == FormKind::negation) {
    exchanged = !exchanged;
    old = test->operands[0];
    test = model_.forms.find(model_.tape, old);
  }
  if (test->kind == FormKind::less || test->kind == FormKind::greater) {
    const std::string text = name_of(print_expression(model_.tape, old, model_.scope.names, &model_.forms));
    return choice_of_one(comparison(*test, text), exchanged ? b : a, exchanged ? a : b);
  }
  return algebra_.add(b, algebra_.multiply(theta, algebra_.subtract(a, b)));
}

}  // namespace perp::lowering

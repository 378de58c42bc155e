#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <perp/models/language/lowering/aliases.hpp>

namespace perp::lowering {
namespace {

/// Forms of more lines are not kept: those of sums of sums of .. would hold the square of their number.
constexpr std::size_t longest_form = 64;
constexpr std::size_t most_coupled = 256;  ///< equations that are solved together; of more none is

/// The line of an input of the model's tape that is no operator and no multiplier.
int input_line(Tape& tape, const EquationModel& model, int input) {
  const int n = model.n(), laws = static_cast<int>(model.laws.size());
  const int parameters = static_cast<int>(model.parameters.size());
  if (input < n) return tape.input(1 + n + input);
  return tape.input(input < n + laws + parameters ? 1 + 2 * n + input - n - laws : Dcs::time_input());
}

}  // namespace

AffineForm Aliases::form(int line) {
  AffineForm plain = algebra_.affine(line);
  const auto is_variable = [this](const auto& term) { return variable_of(term.first) >= 0; };
  if (std::none_of(plain.begin(), plain.end(), is_variable)) return plain;
  if (is_algebraic_.empty()) find();
  return replaced(plain);
}

int Aliases::variable_of(int line) const {
  if (line < 0 || algebra_.tape()[line].operation != Operation::input) return -1;
  const int variable = algebra_.tape()[line].a - 1 - model_.n();
  return variable >= 0 && variable < model_.n() ? variable : -1;
}

void Aliases::find() {
  is_algebraic_.assign(static_cast<std::size_t>(model_.n()), 1);
  for (int line = 0; line < model_.tape.size(); ++line)
    if (const Form* form = model_.forms.find(model_.tape, line); form != nullptr && form->kind == FormKind::derivative)
      is_algebraic_[static_cast<std::size_t>(model_.tape[form->operands[0]].a)] = 0;
  if (std::find(is_algebraic_.begin(), is_algebraic_.end(), 1) != is_algebraic_.end()) define(plain_equations());
}

std::vector<char> Aliases::lines_with_operators() const {
  const int first_multiplier = model_.n(), first_parameter = first_multiplier + static_cast<int>(model_.laws.size());
  std::vector<char> holds(static_cast<std::size_t>(model_.tape.size()));
  const auto of = [&](int line) { return line >= 0 && holds[static_cast<std::size_t>(line)] != 0; };
  for (int line = 0; line < model_.tape.size(); ++line) {
    const Instruction& here = model_.tape[line];
    const bool is_multiplier = here.a >= first_multiplier && here.a < first_parameter;
    holds[static_cast<std::size_t>(line)] = here.operation == Operation::input
                                                ? is_multiplier || here.a >= model_.forms.first_input()
                                                : of(here.a) || of(here.b);
  }
  return holds;
}

std::vector<int> Aliases::lowered(const std::vector<bool>& needed) {
  std::vector<int> lines(needed.size(), -1);
  const auto at = [&](int line) { return line < 0 ? -1 : lines[static_cast<std::size_t>(line)]; };
  Tape& tape = algebra_.tape();
  for (std::size_t k = 0; k < needed.size(); ++k) {
    if (!needed[k]) continue;
    const Instruction& here = model_.tape[static_cast<int>(k)];
    switch (here.operation) {
      case Operation::input: lines[k] = input_line(tape, model_, here.a); break;
      case Operation::constant: lines[k] = tape.constant(here.value); break;
      default: lines[k] = tape.apply(here.operation, at(here.a), at(here.b));
    }
  }
  return lines;
}

std::vector<AffineForm> Aliases::plain_equations() {
  const std::vector<char> holds = lines_with_operators();
  const auto is_plain = [&](int line) { return holds[static_cast<std::size_t>(line)] == 0; };
  std::vector<int> sides;
  for (const Equation& equation : model_.equations) {
    if (!is_plain(equation.left) || !is_plain(equation.right)) continue;
    sides.insert(sides.end(), {equation.left, equation.right});
  }
  const std::vector<int> lines = lowered(needed_lines(model_.tape, sides));
  std::vector<AffineForm> equations;
  for (std::size_t k = 0; k + 1 < sides.size(); k += 2) {
    const int left = lines[static_cast<std::size_t>(sides[k])], right = lines[static_cast<std::size_t>(sides[k + 1])];
    equations.push_back(algebra_.affine(algebra_.subtract(left, right)));
  }
  return equations;
}

std::vector<int> Aliases::unknowns_of(const AffineForm& form) const {
  std::vector<int> lines;
  for (const auto& term : form) {
    const int variable = variable_of(term.first);
    if (variable >= 0 && is_algebraic_[static_cast<std::size_t>(variable)] != 0 && !form_of_.contains(term.first))
      lines.push_back(term.first);
  }
  return lines;
}

/// One variable after the other, each from an equation in which all others have their form.
void Aliases::define(const std::vector<AffineForm>& equations) {
  std::map<int, std::vector<std::size_t>> uses;  // of each variable, by its line: the equations that hold it
  std::vector<std::size_t> ready;
  std::vector<std::size_t> open(equations.size());
  for (std::size_t k = 0; k < equations.size(); ++k) {
    const std::vector<int> unknowns = unknowns_of(equations[k]);
    for (const int line : unknowns) uses[line].push_back(k);
    open[k] = unknowns.size();
    if (open[k] == 1) ready.push_back(k);
  }
  for (std::size_t next = 0; next < ready.size(); ++next) {
    const std::vector<int> left = unknowns_of(equations[ready[next]]);
    if (left.size() != 1) continue;  // another equation gave it
    solve(equations[ready[next]], left.front());
    if (!form_of_.contains(left.front())) continue;
    for (const std::size_t k : uses[left.front()])
      if (--open[k] == 1) ready.push_back(k);
  }
  eliminate(equations);
}

/// What is left of the equations, each of which holds several variables that have no form: by elimination, one variable of each.
/// Forms hold no variable that has one.
void Aliases::eliminate(const std::vector<AffineForm>& equations) {
  std::vector<AffineForm> coupled;
  for (const AffineForm& equation : equations)
    if (AffineForm rest = replaced(equation); !unknowns_of(rest).empty()) coupled.push_back(std::move(rest));
  if (coupled.size() > most_coupled) return;
  for (const AffineForm& equation : coupled) {
    const AffineForm rest = replaced(equation);
    const std::vector<int> unknowns = unknowns_of(rest);
    const auto pivot = std::ranges::find_if(unknowns, [&](int line) { return algebra_.sign(rest.at(line)).value_or(0) != 0; });
    if (pivot == unknowns.end()) continue;
    solve(rest, *pivot);
    if (!form_of_.contains(*pivot)) continue;
    for (auto& [line, form] : form_of_)
      if (form.contains(*pivot)) form = replaced(form);
  }
}

void Aliases::solve(const AffineForm& equation, int line) {
  AffineForm rest = replaced(equation);
  const auto own = rest.find(line);
  if (own == rest.end() || algebra_.sign(own->second).value_or(0) == 0) return;
  const int factor = algebra_.negate(own->second);
  rest.erase(own);
  if (rest.size() > longest_form) return;
  for (auto& term : rest) term.second = algebra_.divide(term.second, factor);
  form_of_.emplace(line, std::move(rest));
}

AffineForm Aliases::replaced(const AffineForm& form) {
  AffineForm result;
  const auto add = [&](int line, int coefficient) {
    const auto [place, is_new] = result.try_emplace(line, coefficient);
    if (is_new) return;
    const double size = std::abs(algebra_.value(place->second)) + std::abs(algebra_.value(coefficient));
    place->second = algebra_.add(place->second, coefficient);
    if (!algebra_.is_exact() && is_rounding(algebra_.value(place->second), size)) place->second = algebra_.number(0);
  };
  for (const auto& [line, coefficient] : form) {
    const auto alias = form_of_.find(line);
    if (alias == form_of_.end()) {
      add(line, coefficient);
      continue;
    }
    for (const auto& [part, share] : alias->second) add(part, algebra_.multiply(coefficient, share));
  }
  std::erase_if(result, [this](const auto& term) { return algebra_.is_number(term.second, 0); });
  return result;
}

}  // namespace perp::lowering

#include <perp/models/language/lowering/if_branches.hpp>

namespace perp::lowering {
namespace {

constexpr int unused = -2;

}  // namespace

void IfBranches::use_roots(const EquationModel& model) {
  for (const Equation& equation : model.equations) use(equation.left, none), use(equation.right, none);
  for (const StatedLaw& stated : model.laws) use(stated.argument, none);
  for (const int output : model.outputs) use(output, none);
  for (const Reset& reset : model.resets) {
    use(reset.condition, none);
    for (const int value : reset.values) use(value, none);
  }
}

IfBranches::IfBranches(const EquationModel& model)
    : branch_of_(static_cast<std::size_t>(model.tape.size()), unused) {
  use_roots(model);
  // All users of a line stand behind it.
  for (int line = model.tape.size() - 1; line >= 0; --line) {
    int& branch = branch_of_[static_cast<std::size_t>(line)];
    if (branch == unused) branch = none;
    // A line that is older than a condition, and only later used below it, is computed before its weight.
    while (branch != none && (*this)[branch].condition >= line) branch = (*this)[branch].outer;
    use_operands(model, line);
  }
}

void IfBranches::use_operands(const EquationModel& model, int line) {
  const int here = of(line);
  const Form* form = model.forms.find(model.tape, line);
  if (form == nullptr) {
    if (model.tape[line].operation == Operation::input) return;
    use(model.tape[line].a, here);
    use(model.tape[line].b, here);
  } else if (form->kind == FormKind::choice) {
    use(form->operands[0], here);
    use(form->operands[1], branch(model, here, form->operands[0], true));
    use(form->operands[2], branch(model, here, form->operands[0], false));
  } else {
    for (const int operand : form->operands) use(operand, here);
  }
}

void IfBranches::use(int line, int branch) {
  if (line < 0) return;
  int& known = branch_of_[static_cast<std::size_t>(line)];
  known = known == unused ? branch : common(known, branch);
}

/// `not` before a condition exchanges its branches.
int IfBranches::branch(const EquationModel& model, int outer, int condition, bool holds) {
  for (const Form* form = model.forms.find(model.tape, condition);
       form != nullptr && form->kind == FormKind::negation; form = model.forms.find(model.tape, condition)) {
    condition = form->operands[0];
    holds = !holds;
  }
  for (int around = outer; around != none; around = (*this)[around].outer)
    if ((*this)[around].condition == condition && (*this)[around].holds == holds) return outer;
  const auto [place, is_new] =
      numbers_.try_emplace({outer, condition, holds}, static_cast<int>(branches_.size()));
  if (is_new)
    branches_.push_back({outer, condition, holds, outer == none ? 1 : (*this)[outer].depth + 1});
  return place->second;
}

/// The innermost branch that both are in.
int IfBranches::common(int a, int b) const {
  const auto depth = [this](int branch) { return branch == none ? 0 : (*this)[branch].depth; };
  while (a != b) (depth(a) >= depth(b) ? a : b) = (*this)[depth(a) >= depth(b) ? a : b].outer;
  return a;
}

}  // namespace perp::lowering

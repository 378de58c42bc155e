#include <algorithm>
#include <utility>

#include <perp/core/expression/rewriting/cancelled_constants.hpp>
#include <perp/models/language/lowering/decisions.hpp>
#include <perp/models/language/lowering/forms.hpp>
#include <perp/models/language/lowering/lowering.hpp>

namespace perp {
namespace {

using lowering::Algebra;
using lowering::Decisions;
using lowering::FormLowering;
using lowering::Switch;

/// Number of lines that the equations and the arguments of stated laws need: all before the first
/// line of an output or a reset that they do not share.
int end_of_equations(const EquationModel& model) {
  int end = 0;
  for (const Equation& equation : model.equations)
    end = std::max({end, equation.left + 1, equation.right + 1});
  for (const StatedLaw& law : model.laws) end = std::max(end, law.argument + 1);
  return end;
}

/// Places the inputs of the lowering tape on the tape of the system.
class Placing {
 public:
  Placing(const Dcs& system, FormLowering& forms, const Decisions& decisions, bool in_equations)
      : system_(system), forms_(forms), decisions_(decisions), in_equations_(in_equations) {}

  int operator()(Algebra& algebra, int input, const std::vector<int>& renamed) const {
    const auto [index, basis] = forms_.switches().of_input(input);
    if (index < 0) {
      const int first = 1 + 2 * system_.n();  // of the parameters: here the multipliers come before
      return algebra.tape().input(input < first ? input : input + system_.m());
    }
    auto place = std::lower_bound(decisions_.live.begin(), decisions_.live.end(), index);
    if (place != decisions_.live.end() && *place != index) place = decisions_.live.end();  // it is not live
    const int multiplier = algebra.tape().input(
        system_.multiplier_input(static_cast<int>(place - decisions_.live.begin())));
    const Switch& of = forms_.switches().list()[static_cast<std::size_t>(index)];
    const int argument = renamed[static_cast<std::size_t>(of.argument)];
    return lowering::basis_line(algebra, decisions_.of_switch[static_cast<std::size_t>(index)],
                                basis, multiplier, argument, in_equations_);
  }

 private:
  const Dcs& system_;
  FormLowering& forms_;
  const Decisions& decisions_;
  bool in_equations_;
};

/// The lines of outputs and resets, in that order.
std::vector<int> other_lines(const EquationModel& model) {
  std::vector<int> lines = model.outputs;
  for (const Reset& reset : model.resets) {
    lines.push_back(reset.condition);
    lines.insert(lines.end(), reset.values.begin(), reset.values.end());
  }
  return lines;
}

/// The resets with their lines renamed, from the list that `other_lines` makes.
void set_resets(const EquationModel& model, const std::vector<int>& others, Dcs& system) {
  std::size_t next = model.outputs.size();
  system.resets = model.resets;
  for (Reset& reset : system.resets) {
    reset.condition = others[next++];
    for (int& value : reset.values) value = others[next++];
  }
}

/// Writes F, G and the other lines on the tape of the system.
void rewrite_all(FormLowering& forms, const Decisions& decisions,
                 const lowering::ExactParameters* exact, Dcs& system,
                 std::vector<int>& others) {
  const std::size_t n = system.F.size();
  // Nearly as many lines as before, and one for each multiplier whose place is not that of its basis.
  Tape tape = lowering::empty_tape(static_cast<std::size_t>(forms.tape().size()) + decisions.live.size());
  Algebra algebra(tape, system.parameter_input(0), system.parameters, exact);
  std::vector<int> roots = system.F;
  roots.insert(roots.end(), system.G.begin(), system.G.end());
  lowering::rewrite(forms.tape(), roots, algebra, Placing(system, forms, decisions, true));
  CancelledConstants cancelled(tape, system.parameter_input(0));
  for (int& root : roots) root = cancelled(root);
  system.F.assign(roots.begin(), roots.begin() + static_cast<std::ptrdiff_t>(n));
  std::vector<int> arguments(roots.begin() + static_cast<std::ptrdiff_t>(n), roots.end());
  // Outputs see the arguments of all laws, which merged laws need there.
  roots = others;
  roots.insert(roots.end(), system.G.begin(), system.G.end());
  lowering::rewrite(forms.tape(), roots, algebra, Placing(system, forms, decisions, false));
  others.assign(roots.begin(), roots.begin() + static_cast<std::ptrdiff_t>(others.size()));
  system.G = arguments;
  tape.settle();
  system.tape = std::move(tape);
}

}  // namespace

void share_branches(Law& law, const Law& with) {
  if (law.branches == with.branches) law.branches = with.branches;
}

LoweredModel lower(const EquationModel& model) {
  FormLowering forms(model);
  forms.lower_until(end_of_equations(model), true);
  for (std::size_t i = 0; i < model.laws.size(); ++i)
    forms.switches().set_argument(static_cast<int>(i), forms.line(model.laws[i].argument));
  LoweredModel lowered;
  Dcs& system = lowered.system;
  system.parameters = model.parameters;
  for (const Equation& equation : model.equations)
    system.F.push_back(
        forms.algebra().subtract(forms.line(equation.left), forms.line(equation.right)));
  forms.lower_until(model.tape.size(), false);
  std::vector<int> others = other_lines(model);
  for (int& line : others) line = forms.line(line);

  const std::vector<Switch>& switches = forms.switches().list();
  const Decisions decisions = decide(forms.algebra(), forms.switches(), system.F, others);
  for (const int k : decisions.live) {
    const Switch& of = switches[static_cast<std::size_t>(k)];
    Law law = decisions.of_switch[static_cast<std::size_t>(k)].law(of);
    if (!system.laws.empty()) share_branches(law, system.laws.back());
    system.laws.push_back(std::move(law));
    system.G.push_back(of.argument);
  }
  forms.finish();
  rewrite_all(forms, decisions, model.exact_parameters(), system, others);
  lowered.outputs.assign(others.begin(),
                         others.begin() + static_cast<std::ptrdiff_t>(model.outputs.size()));
  set_resets(model, others, system);
  return lowered;
}

}  // namespace perp

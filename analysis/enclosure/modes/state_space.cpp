// What enclosures follow of a system; the same in all of its modes.
#include <fmt/format.h>
#include <algorithm>

#include <perp/analysis/enclosure/modes/exact_lines.hpp>
#include <perp/analysis/enclosure/modes/state_space.hpp>
#include <perp/core/base/error.hpp>

namespace perp::enclosure {
namespace {

/// Is there an equation of this derivative alone, and no reset of the variable? Whether its root is
/// 0 the sets see.
bool is_constant(const Dcs& system, const ExactLines& lines, int variable) {
  const std::vector<int> rate{system.derivative_input(variable)};
  return std::any_of(system.F.begin(), system.F.end(),
                     [&](int line) { return lines.inputs_of(line) == rate; }) &&
         std::none_of(system.resets.begin(), system.resets.end(), [&](const Reset& reset) {
           return std::find(reset.variables.begin(), reset.variables.end(), variable) !=
                  reset.variables.end();
         });
}

/// Those whose derivative occurs in the equations.
std::vector<int> differential_variables(const Dcs& system, const ExactLines& lines) {
  std::vector<bool> found(static_cast<std::size_t>(system.n()));
  for (const int line : system.F)
    for (const int input : lines.inputs_of(line))
      if (input >= system.derivative_input(0) && input < system.variable_input(0))
        found[static_cast<std::size_t>(input - system.derivative_input(0))] = true;
  std::vector<int> variables;
  for (int j = 0; j < system.n(); ++j)
    if (found[static_cast<std::size_t>(j)]) variables.push_back(j);
  return variables;
}

/// Is the parameter a function of time?
bool is_disturbance(const StateSpace& space, int k) {
  const auto& list = space.disturbances;
  return std::find(list.begin(), list.end(), k) != list.end();
}

/// Replaces algebraic variables by what gives them.
class Names {
 public:
  Names(Dcs& system, const StateSpace& space)
      : system_(system),
        space_(space),
        lines_(system.tape, nonzero_inputs(system, space)),
        is_taken_(system.F.size()) {}

  /// The variables.
  std::vector<int> replace_all() {
    for (const bool with_multipliers : {false, true})
      while (replace_one(with_multipliers)) {
      }
    for (std::size_t k = 0; k < system_.F.size(); ++k)
      if (!is_taken_[k]) note_name(k);
    return names_;
  }

 private:
  /// An equation with further algebraic variables names the only one that it gives everywhere.
  void note_name(std::size_t k) {
    std::vector<int> given;
    for (const int input : unknowns_of(system_, space_, system_.F[k])) {
      if (input < system_.variable_input(0)) return;
      if (input < system_.multiplier_input(0) && lines_.is_nonzero(lines_.derivative(system_.F[k], input)))
        given.push_back(input - system_.variable_input(0));
    }
    if (given.size() == 1) names_.push_back(given.front());
  }

  bool replace_one(bool with_multipliers) {
    for (std::size_t k = 0; k < system_.F.size(); ++k)
      if (!is_taken_[k] && replace_by(k, with_multipliers)) return true;
    return false;
  }

  bool replace_by(std::size_t k, bool with_multipliers) {
    const int variable = named(k, with_multipliers);
    if (variable < 0) return false;
    const int coefficient = lines_.derivative(system_.F[k], variable);
    if (!lines_.is_nonzero(coefficient)) return false;
    // a y + b = 0:  y = −b/a
    int rest = system_.F[k];
    lines_.substitute(std::span(&rest, 1), {{variable, lines_.number(0)}});
    const int value = lines_.divide(lines_.negate(rest), coefficient);
    is_taken_[k] = true;
    names_.push_back(variable - system_.variable_input(0));
    put_in({{variable, value}}, k);
    return true;
  }

  /// The only unknown of an equation, beside multipliers where they may be; −1: there is none.
  [[nodiscard]] int named(std::size_t k, bool with_multipliers) const {
    int variable = -1;
    for (const int input : unknowns_of(system_, space_, system_.F[k])) {
      const bool is_multiplier = input >= system_.multiplier_input(0);
      if (is_multiplier && with_multipliers) continue;
      if (is_multiplier || variable >= 0 || input < system_.variable_input(0)) return -1;
      variable = input;
    }
    return variable;
  }

  /// Into all formulas but the equation that gives it.
  void put_in(const std::map<int, int>& lines, std::size_t except) {
    const auto put = [&](std::vector<int>& roots) { lines_.substitute(roots, lines); };
    const int giving = system_.F[except];
    put(system_.F);
    system_.F[except] = giving;
    put(system_.G);
    for (Reset& reset : system_.resets) {
      lines_.substitute(std::span(&reset.condition, 1), lines);
      put(reset.values);
    }
  }

  Dcs& system_;
  const StateSpace& space_;
  ExactLines lines_;
  std::vector<bool> is_taken_;
  std::vector<int> names_;
};

}  // namespace

Dcs without_names(const Dcs& system, StateSpace& space) {
  Dcs result = system;
  space.names = Names(result, space).replace_all();
  return result;
}

StateSpace state_space(const Dcs& system, const Box& parameters,
                       const std::vector<int>& disturbances) {
  if (parameters.size() != system.parameters.size())
    throw InvalidInput(fmt::format("there are {} intervals for {} parameters", parameters.size(),
                                   system.parameters.size()));
  StateSpace space;
  space.values = parameters;
  space.disturbances = disturbances;
  Tape tape = system.tape;
  const ExactLines lines(tape);
  space.variables = differential_variables(system, lines);
  for (int k = 0; k < static_cast<int>(parameters.size()); ++k)
    if (!is_disturbance(space, k) && is_wide(parameters[static_cast<std::size_t>(k)]))
      space.parameters.push_back(k);
  for (const int j : space.variables) space.constant.push_back(is_constant(system, lines, j));
  space.constant.resize(static_cast<std::size_t>(space.states()), true);
  return space;
}

std::vector<SeriesInput> series_inputs(const Dcs& system, const StateSpace& space) {
  using Kind = SeriesInput::Kind;
  std::vector<SeriesInput> inputs(
      static_cast<std::size_t>(system.parameter_input(static_cast<int>(system.parameters.size()))));
  const auto input = [&inputs](int number) -> SeriesInput& {
    return inputs[static_cast<std::size_t>(number)];
  };
  input(Dcs::time_input()).kind = Kind::time;
  int state = 0;
  for (const int j : space.variables) input(system.variable_input(j)) = {Kind::state, state++, {}};
  for (int k = 0; k < static_cast<int>(space.values.size()); ++k)
    input(system.parameter_input(k)) = {Kind::constant, -1,
                                        space.values[static_cast<std::size_t>(k)]};
  for (const int k : space.parameters)
    input(system.parameter_input(k)) = {Kind::state, state++, {}};
  return inputs;
}

std::set<int> nonzero_inputs(const Dcs& system, const StateSpace& space) {
  std::set<int> inputs;
  for (int k = 0; k < static_cast<int>(space.values.size()); ++k) {
    const bool varies = is_disturbance(space, k);
    if (!varies && certain_sign(space.values[static_cast<std::size_t>(k)]) != 0)
      inputs.insert(system.parameter_input(k));
  }
  return inputs;
}

std::vector<bool> states_acting_on(const Flow& flow, int line) {
  Tape tape = flow.tape;
  const ExactLines lines(tape);
  std::vector<bool> acting(static_cast<std::size_t>(flow.states()));
  std::vector<int> waiting{line};
  bool is_implicit_known = false;
  const auto add = [&](int state) {
    const auto at = static_cast<std::size_t>(state);
    if (acting[at]) return;
    acting[at] = true;
    waiting.push_back(flow.rates[at]);
    for (const DependentState& dependent : flow.dependents)
      if (dependent.state == state) waiting.push_back(dependent.line);
  };
  while (!waiting.empty()) {
    const int next = waiting.back();
    waiting.pop_back();
    for (const int input : lines.inputs_of(next)) {
      const SeriesInput& of = flow.inputs[static_cast<std::size_t>(input)];
      if (of.kind == SeriesInput::Kind::state) add(of.state);
      if (of.kind != SeriesInput::Kind::implicit || is_implicit_known) continue;
      is_implicit_known = true;
      const std::vector<int>& equations = flow.implicit.equations;
      waiting.insert(waiting.end(), equations.begin(), equations.end());
    }
  }
  return acting;
}

std::vector<int> unknowns_of(const Dcs& system, const StateSpace& space, int line) {
  Tape tape = system.tape;
  std::vector<int> inputs = ExactLines(tape).inputs_of(line);
  std::erase_if(inputs, [&](int input) {
    const int j = input - system.variable_input(0);
    const bool is_state =
        0 <= j && j < system.n() &&
        std::find(space.variables.begin(), space.variables.end(), j) != space.variables.end();
    return input == Dcs::time_input() || is_state || input >= system.parameter_input(0);
  });
  return inputs;
}

}  // namespace perp::enclosure

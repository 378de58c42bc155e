// Derivatives of functions that are looked at once: as_sparse_lcs and System call them.
#include <algorithm>

#include <perp/core/expression/dependent_lines.hpp>
#include <perp/core/expression/differentiate.hpp>
#include <perp/core/system/function_derivatives.hpp>

namespace perp {
namespace {

std::vector<double> values_at_zero(const Tape& tape, int inputs) {
  const std::vector<double> zero(static_cast<std::size_t>(inputs), 0.0);
  std::vector<double> values(static_cast<std::size_t>(tape.size()));
  tape.evaluate(std::span(zero), std::span(values));
  return values;
}

}  // namespace

BoundFunctions bound_functions(const Dcs& system) {
  BoundFunctions bound{{}, system.F};
  bound.lines.insert(bound.lines.end(), system.G.begin(), system.G.end());
  bound.tape = bind_inputs(system.tape, system.parameter_input(0), system.parameters, bound.lines);
  return bound;
}

std::vector<FunctionDerivative> derivatives_at_zero(const Dcs& system, BoundFunctions functions) {
  const int inputs = system.parameter_input(0);
  const std::vector<Derivative> derivatives = differentiate(functions.tape, functions.lines, 0, inputs);
  functions.tape.settle();
  const std::vector<char> holds_input = dependent_lines(functions.tape, 0, inputs);
  const std::vector<double> values = values_at_zero(functions.tape, inputs);
  std::vector<FunctionDerivative> list;
  list.reserve(derivatives.size());
  for (const Derivative& derivative : derivatives) {
    const auto line = static_cast<std::size_t>(derivative.line);
    list.push_back({derivative.output, derivative.input, holds_input[line] == 0, values[line]});
  }
  return list;
}

std::vector<int> differential_variables(const Dcs& system) {
  validate(system);
  BoundFunctions functions = bound_functions(system);
  std::vector<int> list;
  for (const Derivative& each : differentiate(functions.tape, functions.lines, system.derivative_input(0), system.variable_input(0)))
    list.push_back(each.input - system.derivative_input(0));
  std::ranges::sort(list);
  list.erase(std::ranges::unique(list).begin(), list.end());
  return list;
}

}  // namespace perp

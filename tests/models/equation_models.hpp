#pragma once

#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <perp/models/language/lowering/lowering.hpp>

namespace perp::test {

using Parameters = std::vector<std::pair<std::string, double>>;

/// Equations of the variables and parameters, as the reader of model files makes them.
inline EquationModel equation_model(const std::vector<std::string>& variables,
                                    const Parameters& parameters,
                                    const std::vector<std::string>& equations,
                                    const std::vector<std::string>& outputs = {}) {
  Scope scope{variables};
  scope.variables = static_cast<int>(variables.size());
  for (const auto& parameter : parameters) scope.names.push_back(parameter.first);
  scope.names.emplace_back("t");
  scope.aliases["time"] = static_cast<int>(scope.names.size()) - 1;
  EquationModel model(scope);
  for (const auto& parameter : parameters) model.parameters.push_back(parameter.second);
  for (const std::string& text : equations)
    model.equations.push_back(parse_equation(text, model.scope, model.tape, model.forms));
  for (const std::string& text : outputs)
    model.outputs.push_back(parse_formula(text, model.scope, model.tape, model.forms));
  return model;
}

/// Values of lines of a tape of doubles.
inline std::vector<double> values(const Tape& tape, const std::vector<int>& lines,
                                  const std::vector<double>& inputs) {
  std::vector<double> all(static_cast<std::size_t>(tape.size()));
  tape.evaluate(std::span<const double>(inputs), std::span<double>(all));
  std::vector<double> result;
  for (const int line : lines) result.push_back(all[static_cast<std::size_t>(line)]);
  return result;
}

/// λ on the graph of the law over w ≠ 0: of the first branch whose range holds w.
inline double multiplier_at(const Law& law, double w) {
  for (const Branch& branch : law.branches)
    if (branch.b != 0 && w >= branch.w.lower && w <= branch.w.upper)
      return (branch.c - branch.a * w) / branch.b;
  return nan;
}

/// The inputs of a lowered system at (t, ẋ, x) with every multiplier on its law. Arguments may hold
/// multipliers of other laws, of earlier ones first.
inline std::vector<double> inputs_at(const Dcs& system, double t, const std::vector<double>& xdot,
                                     const std::vector<double>& x) {
  std::vector<double> inputs{t};
  inputs.insert(inputs.end(), xdot.begin(), xdot.end());
  inputs.insert(inputs.end(), x.begin(), x.end());
  inputs.resize(inputs.size() + static_cast<std::size_t>(system.m()), nan);
  inputs.insert(inputs.end(), system.parameters.begin(), system.parameters.end());
  for (int i = 0; i < system.m(); ++i) {
    const double w = values(system.tape, system.G, inputs)[static_cast<std::size_t>(i)];
    inputs[static_cast<std::size_t>(system.multiplier_input(i))] =
        multiplier_at(system.laws[static_cast<std::size_t>(i)], w);
  }
  return inputs;
}

}  // namespace perp::test

// Model files without rounding, as the command and tests enclose them.
#include <fmt/format.h>
#include <algorithm>

#include <perp/analysis/enclosure/exact_model.hpp>
#include <perp/analysis/enclosure/inconsistent_start.hpp>
#include <perp/analysis/enclosure/modes/state_space.hpp>
#include <perp/core/state_derivative.hpp>
#include <perp/models/language/exact_numbers.hpp>

namespace perp::enclosure {
namespace {

std::vector<std::size_t> wide_sides(const Box& box) {
  std::vector<std::size_t> list;
  for (std::size_t k = 0; k < box.size(); ++k)
    if (is_wide(box[k])) list.push_back(k);
  return list;
}

}  // namespace

ExactModel::ExactModel(Model read) : model(std::move(read)) {
  const ExactNumbers& numbers = *model.exact_numbers;
  for (const Variable& variable : model.variables) variables.push_back(variable.name);
  parameters = numbers.names;
  system = *model.equations;
  start = numbers.starts;
  values = numbers.values;
  exact = {numbers.rational_starts, numbers.rational_values};
  for (const auto& [parameter, formula] : numbers.parameter_formulas)
    exact.formulas.push_back({.parameter = parameter, .formula = formula});
  for (const auto& [variable, formula] : numbers.start_formulas)
    exact.formulas.push_back({.variable = variable, .formula = formula});
  span = model.run.span;
}

Box ExactModel::multipliers(const Box& lambda) const {
  Box result = lambda;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const auto [offset, scale] = model.exact_numbers->multipliers[i];
    if (scale < 0) continue;
    result[i] = values[static_cast<std::size_t>(offset)] +
                values[static_cast<std::size_t>(scale)] * result[i];
  }
  return result;
}

std::vector<int> ExactModel::output_lines() const {
  std::vector<int> indices;
  for (std::size_t k = 0; k < model.outputs.lines.size(); ++k)
    if (!holds_derivative(model.outputs.tape, std::span(&model.outputs.lines[k], 1), system))
      indices.push_back(static_cast<int>(k));
  return indices;
}

std::vector<std::string> ExactModel::outputs() const {
  std::vector<std::string> names;
  for (const int k : output_lines())
    names.push_back(model.outputs.names[static_cast<std::size_t>(k)]);
  return names;
}

Box ExactModel::outputs_at(double t, const Box& x, const Box& lambda, const Box& p) const {
  const std::vector<int> indices = output_lines();
  if (indices.empty()) return {};
  // t | ẋ | x | λ | p;  derivatives are in none of these outputs
  Box inputs(static_cast<std::size_t>(system.parameter_input(0)), Interval::none());
  inputs[0] = Interval(t);
  const auto copy = [&inputs](const Box& from, int count, int first) {
    const int size = std::min(count, static_cast<int>(from.size()));
    std::copy_n(from.begin(), size, inputs.begin() + first);
  };
  copy(x, system.n(), system.variable_input(0));
  copy(lambda, system.m(), system.multiplier_input(0));
  inputs.insert(inputs.end(), p.begin(), p.end());
  Box lines(static_cast<std::size_t>(model.outputs.tape.size()));
  model.outputs.tape.evaluate(std::span<const Interval>(inputs), std::span<Interval>(lines));
  Box result;
  for (const int k : indices)
    result.push_back(
        lines[static_cast<std::size_t>(model.outputs.lines[static_cast<std::size_t>(k)])]);
  return result;
}

std::vector<std::string> ExactModel::set_names() const {
  std::vector<std::string> names;
  for (const std::size_t k : wide_sides(values)) names.push_back(parameters[k]);
  for (const std::size_t j : wide_sides(start)) names.push_back(variables[j] + "(0)");
  return names;
}

Box ExactModel::set_of(const EnclosurePiece& piece) const {
  Box set;
  for (const std::size_t k : wide_sides(values)) set.push_back(piece.parameters[k]);
  for (const std::size_t j : wide_sides(start)) set.push_back(piece.start[j]);
  return set;
}

std::vector<int> ExactModel::guesses() const {
  const std::vector<int> states = state_space(system, values, {}).variables;
  std::vector<int> guessed;
  for (const std::size_t j : wide_sides(start))
    if (std::find(states.begin(), states.end(), static_cast<int>(j)) == states.end()) guessed.push_back(static_cast<int>(j));
  return guessed;
}

Enclosure ExactModel::enclose(const EncloseOptions& options) const {
  const std::vector<int>& disturbances = model.exact_numbers->disturbances;
  if (state_space(system, values, disturbances).variables.empty())
    throw ModelError(fmt::format("{}: no equation holds a derivative: there is nothing to follow; "
                                 "expected one with der(...)",
                                 model.file),
                     "");
  try {
    return enclosure::enclose(system, start, values, span, options, disturbances, exact);
  } catch (const InconsistentStart& error) {
    throw ModelError(fmt::format("{}: {}; expected a consistent start, as one of perp jumps",
                                 model.file, error.what()),
                     "");
  }
}

ExactModel read_exact_model(const std::string& text, const std::string& name,
                            const std::vector<Override>& overrides) {
  ReadOptions known;
  known.exact = true;
  return ExactModel(read_model_text(text, name, overrides, known));
}

}  // namespace perp::enclosure

// Values at a start in rational arithmetic, where rounding leaves a sign open; called where starts are judged.
#include <algorithm>
#include <cmath>

#include <perp/analysis/enclosure/exact_start.hpp>
#include <perp/analysis/enclosure/modes/exact_lines.hpp>
#include <perp/core/interval/rational_tape.hpp>

namespace perp::enclosure {
namespace {

bool contains(const Interval& set, const Rational& number) {
  return set.is_bounded() && !(number < Rational(set.lo)) && !(Rational(set.hi) < number);
}

/// Σ_i ∂line/∂x_i x_i' + ∂line/∂t
int total_derivative(const Flow& flow, ExactLines& lines, int line) {
  int sum = lines.number(0);
  for (const int input : lines.inputs_of(line)) {
    const SeriesInput& of = flow.inputs[static_cast<std::size_t>(input)];
    if (of.kind == SeriesInput::Kind::constant) continue;
    int term = lines.derivative(line, input);
    if (of.kind == SeriesInput::Kind::state)
      term = lines.multiply(term, flow.rates[static_cast<std::size_t>(of.state)]);
    sum = lines.add(sum, term);
  }
  return sum;
}

}  // namespace

ExactNumbersOrNone exact_inputs(const Dcs& system, double t, const ExactStart& start,
                                const std::vector<Interval>& variables,
                                const std::vector<Interval>& parameters) {
  ExactNumbersOrNone inputs(static_cast<std::size_t>(
      system.parameter_input(static_cast<int>(system.parameters.size()))));
  inputs[static_cast<std::size_t>(Dcs::time_input())] = Rational(t);
  const auto set = [&inputs](int first, const ExactNumbersOrNone& numbers,
                             const std::vector<Interval>& boxes) {
    for (std::size_t k = 0; k < std::min(numbers.size(), boxes.size()); ++k)
      if (numbers[k] && contains(boxes[k], *numbers[k]))
        inputs[static_cast<std::size_t>(first) + k] = numbers[k];
  };
  set(system.variable_input(0), start.variables, variables);
  set(system.parameter_input(0), start.parameters, parameters);
  return inputs;
}

std::optional<Rational> exact_output(const Flow& flow, int output, int order,
                                     const ExactNumbersOrNone& inputs) {
  if (!flow.implicit.empty()) return std::nullopt;
  Tape tape = flow.tape;
  ExactLines lines(tape);
  int line = flow.outputs[static_cast<std::size_t>(output)];
  for (int k = 0; k < order; ++k) line = total_derivative(flow, lines, line);
  return exact_value(tape, line, inputs);
}

Interval decided(const Interval& value, const Flow& flow, int output, int order,
                 const ExactNumbersOrNone& inputs) {
  if (inputs.empty() || !value.contains(0.0) || value.is_zero()) return value;
  const std::optional<Rational> exact = exact_output(flow, output, order, inputs);
  if (!exact) return value;
  if (exact->sign() == 0) return Interval(0);
  const double nearest = to_double(*exact);
  return nearest == 0 || !std::isfinite(nearest)
             ? value
             : Interval(directed::next_down(nearest), directed::next_up(nearest));
}

}  // namespace perp::enclosure

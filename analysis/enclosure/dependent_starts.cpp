// Starts that are formulas of parameters; called by the pieces of enclosures.
#include <algorithm>

#include <perp/analysis/enclosure/dependent_starts.hpp>
#include <perp/core/expression/polynomial.hpp>

namespace perp::enclosure {
namespace {

/// Of a variable or a parameter; −1: it is none.
int state_of(const StateSpace& space, int variable, int parameter) {
  const auto place = [](const std::vector<int>& list, int wanted) {
    const auto found = std::find(list.begin(), list.end(), wanted);
    return found == list.end() ? -1 : static_cast<int>(found - list.begin());
  };
  if (variable >= 0) return place(space.variables, variable);
  const int at = place(space.parameters, parameter);
  return at < 0 ? -1 : static_cast<int>(space.variables.size()) + at;
}

/// f as the output of a flow that stands still.
Flow still(const StateSpace& space, const ExactFormula& formula) {
  Flow flow;
  flow.tape = formula.tape;
  for (int k = 0; k < formula.names; ++k) {
    const int state = state_of(space, -1, k);
    const Interval& value = space.values[static_cast<std::size_t>(k)];
    flow.inputs.push_back(state < 0 ? SeriesInput{SeriesInput::Kind::constant, -1, value}
                                    : SeriesInput{SeriesInput::Kind::state, state, {}});
  }
  for (const Interval& literal : formula.literals)
    flow.inputs.push_back({SeriesInput::Kind::constant, -1, literal});
  flow.rates.assign(static_cast<std::size_t>(space.states()), flow.tape.constant(0));
  flow.outputs = {formula.line};
  return flow;
}

/// Does it hold a parameter that has other values here than in the whole?
bool holds_replaced(const StateSpace& space, const Box& whole, const ExactFormula& formula) {
  const std::vector<int> held = parameters_in(formula);
  return std::any_of(held.begin(), held.end(), [&](int k) {
    const auto at = static_cast<std::size_t>(k);
    return !(space.values[at] == whole[at]);
  });
}

}  // namespace

std::vector<int> parameters_in(const ExactFormula& formula) {
  std::vector<int> held = InputsBelow(formula.tape)(formula.line);
  std::erase_if(held, [&](int input) { return input >= formula.names; });
  return held;
}

DependentStarts::DependentStarts(const StateSpace& space, const Box& whole,
                                 const std::vector<StartFormula>& formulas) {
  for (const StartFormula& one : formulas) {
    const int state = state_of(space, one.variable, one.parameter);
    const bool rests = one.variable >= 0 && state >= 0 &&
                       space.constant[static_cast<std::size_t>(state)];
    if (state < 0 || rests || holds_replaced(space, whole, one.formula)) continue;
    rows_.push_back({state, still(space, one.formula)});
  }
}

Box DependentStarts::completed(Box start) const {
  for (const Row& row : rows_) {
    IntervalSeries series(row.flow);
    Interval& x = start[static_cast<std::size_t>(row.state)];
    if (series.compute(Interval(0), start, 1, false)) x = series.output(0, 0);
  }
  return start;
}

Doubleton DependentStarts::bound(Doubleton set) const {
  for (const Row& row : rows_) {
    IntervalSeries series(row.flow);
    Box F = points(set.center());
    if (!series.compute(Interval(0), F, 1, false)) continue;
    F[static_cast<std::size_t>(row.state)] = series.output(0, 0);
    Box both = set.box();
    for (std::size_t k = 0; k < both.size(); ++k)
      both[k] = hull(both[k], Interval(set.center()[k]));
    if (!series.compute(Interval(0), both, 1, true)) continue;
    IntervalMatrix J{Matrix(Matrix::Identity(set.states(), set.states()))};
    for (int k = 0; k < set.states(); ++k) J(row.state, k) = series.output_derivative(0, k, 0);
    set.move(F, J, set.box());
  }
  return set;
}

}  // namespace perp::enclosure

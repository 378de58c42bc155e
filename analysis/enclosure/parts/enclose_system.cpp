// Enclosures of systems: in parts that share nothing, each by itself.
#include <fmt/format.h>
#include <algorithm>

#include <perp/analysis/enclosure/dependent_starts.hpp>
#include <perp/analysis/enclosure/inconsistent_start.hpp>
#include <perp/analysis/enclosure/parts/product.hpp>
#include <perp/analysis/enclosure/pieces/pieces.hpp>
#include <perp/analysis/enclosure/times.hpp>
#include <perp/core/base/error.hpp>
#include <perp/core/base/index.hpp>

namespace perp::enclosure {
namespace {

void check_start(const Dcs& system, const StateSpace& space, const Box& start) {
  if (static_cast<int>(start.size()) != system.n())
    throw InvalidInput(
        fmt::format("the start has {} intervals; expected one for each of {} variables",
                    start.size(), system.n()));
  if (space.variables.empty())
    throw InvalidInput("the system has no derivative: there is nothing to follow");
  for (const int j : space.variables)
    if (!start[at(j)].is_bounded())
      throw InvalidInput(fmt::format("interval {} of the start is not bounded", j + 1));
  for (const int k : space.parameters)
    if (!space.values[at(k)].is_bounded())
      throw InvalidInput(fmt::format("the interval of parameter {} is not bounded", k + 1));
}

template <class List>
List entries(const List& list, const std::vector<int>& places) {
  List some;
  if (!list.empty())
    for (const int k : places) some.push_back(list[at(k)]);
  return some;
}

/// Of a part; parameters that it does not hold are points there, so that they are no states.
StateSpace space_of(const SystemPart& part, const StateSpace& whole) {
  const auto holds = [&part](int k) {
    return std::binary_search(part.parameters.begin(), part.parameters.end(), k);
  };
  Box values = whole.values;
  for (std::size_t k = 0; k < values.size(); ++k)
    if (!holds(static_cast<int>(k)) && values[k].is_bounded())
      values[k] = Interval(middle(values[k]));
  std::vector<int> disturbances;
  std::copy_if(whole.disturbances.begin(), whole.disturbances.end(),
               std::back_inserter(disturbances), holds);
  StateSpace space = state_space(part.system, values, disturbances);
  for (std::size_t k = 0; k < part.variables.size(); ++k)
    if (std::find(whole.names.begin(), whole.names.end(), part.variables[k]) != whole.names.end())
      space.names.push_back(static_cast<int>(k));
  return space;
}

/// Parameters of which starts of the part are formulas are parameters of it too, and those of which
/// its parameters are; these stand before them.
void add_parameters_of_starts(SystemPart& part, const std::vector<StartFormula>& formulas) {
  const auto holds = [](const std::vector<int>& list, int k) {
    return std::find(list.begin(), list.end(), k) != list.end();
  };
  for (auto one = formulas.rbegin(); one != formulas.rend(); ++one) {
    if (!holds(part.variables, one->variable) && !holds(part.parameters, one->parameter)) continue;
    for (const int k : parameters_in(one->formula))
      if (!holds(part.parameters, k)) part.parameters.push_back(k);
  }
  std::sort(part.parameters.begin(), part.parameters.end());
}

Enclosure enclose_part(const SystemPart& part, const StateSpace& whole, const Box& start,
                       const Span& span, const EncloseOptions& options, const ExactStart& exact,
                       const PieceKeeper& keeper) {
  ExactStart own{entries(exact.variables, part.variables), exact.parameters};
  for (StartFormula formula : exact.formulas) {
    const auto place =
        std::find(part.variables.begin(), part.variables.end(), formula.variable);
    if (formula.variable >= 0 && place == part.variables.end()) continue;
    if (formula.variable >= 0)
      formula.variable = static_cast<int>(place - part.variables.begin());
    own.formulas.push_back(std::move(formula));
  }
  const StateSpace space = space_of(part, whole);
  try {
    return enclose_in_pieces(part.system, space, entries(start, part.variables), span, options, own,
                             DependentStarts(space, whole.values, own.formulas), keeper);
  } catch (const InconsistentStart& error) {
    const int equation = error.equation();
    throw InconsistentStart(equation < 0 ? equation : part.equations[at(equation)], error.reason());
  }
}

}  // namespace

// Boxes of intervals of time, and proofs, are those of a whole: their steps are made together.
Enclosure enclose(const Dcs& given, const Box& start, const Box& parameters, const Span& span,
                  const EncloseOptions& options, const std::vector<int>& disturbances,
                  const ExactStart& exact) {
  require_directed_arithmetic();
  validate(given);
  check_order(options);
  StateSpace space = state_space(given, parameters, disturbances);
  const Dcs system = without_names(given, space);
  check_start(system, space, start);
  std::vector<SystemPart> parts = independent_systems(system);
  if (options.proof && (options.state.due || !options.state.from.empty()))
    throw InvalidInput("an enclosure with its proof cannot be kept and gone on with");
  KeptPieces kept(options.state);
  if (parts.size() == 1 || options.tube || options.proof)
    return enclose_in_pieces(
        system, space, start, span, options, exact,
        options.proof ? DependentStarts() : DependentStarts(space, space.values, exact.formulas), {kept});
  Product product(system, start, space.values, options);
  int number = 0;
  for (SystemPart& part : parts) {
    add_parameters_of_starts(part, exact.formulas);
    product.add(part, enclose_part(part, space, start, span, options, exact, {kept, fmt::format("{}/", ++number)}));
  }
  return product.finish();
}

}  // namespace perp::enclosure

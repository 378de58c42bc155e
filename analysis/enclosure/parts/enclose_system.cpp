// Enclosures of systems: in parts that share nothing, each by itself.
#include <fmt/format.h>
#include <algorithm>

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

Enclosure enclose_part(const SystemPart& part, const StateSpace& whole, const Box& start,
                       const Span& span, const EncloseOptions& options, const ExactStart& exact) {
  const ExactStart own{entries(exact.variables, part.variables), exact.parameters};
  try {
    return enclose_in_pieces(part.system, space_of(part, whole), entries(start, part.variables),
                             span, options, own);
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
  const std::vector<SystemPart> parts = independent_systems(system);
  if (parts.size() == 1 || options.tube || options.proof)
    return enclose_in_pieces(system, space, start, span, options, exact);
  Product product(system, start, space.values, options);
  for (const SystemPart& part : parts)
    product.add(part, enclose_part(part, space, start, span, options, exact));
  return product.finish();
}

}  // namespace perp::enclosure

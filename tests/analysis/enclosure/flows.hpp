#pragma once

#include <string>
#include <utility>
#include <vector>

#include <perp/analysis/enclosure/enclose.hpp>
#include <perp/core/interval/decimal.hpp>

namespace perp::test {

/// x' = the texts, in t and the states, decimal literals taken exactly.
inline enclosure::Flow make_flow(std::vector<std::string> states,
                                 const std::vector<std::string>& texts) {
  using enclosure::SeriesInput;
  enclosure::Flow flow;
  enclosure::ExactLiterals literals;
  for (const std::string& text : texts) literals.add(text);
  flow.inputs.push_back({SeriesInput::Kind::time, -1, {}});
  for (int j = 0; j < static_cast<int>(states.size()); ++j)
    flow.inputs.push_back({SeriesInput::Kind::state, j, {}});
  for (const enclosure::Interval& value : literals.values())
    flow.inputs.push_back({SeriesInput::Kind::constant, -1, value});
  states.insert(states.begin(), "t");
  Scope scope{std::move(states)};
  literals.extend(scope);
  for (const std::string& text : texts)
    flow.rates.push_back(parse_expression(text, scope, flow.tape));
  return flow;
}

/// Decimal numbers as a box.
inline enclosure::Box decimals(const std::vector<std::string>& texts) {
  enclosure::Box box;
  for (const std::string& text : texts) box.push_back(enclosure::enclose_decimal(text));
  return box;
}

}  // namespace perp::test

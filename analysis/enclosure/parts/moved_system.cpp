// Systems whose unknowns have other numbers: called where systems are taken apart, or get a
// variable more.
#include <algorithm>
#include <vector>

#include <perp/analysis/enclosure/parts/moved_system.hpp>
#include <perp/core/expression/rewriting/moved_inputs.hpp>

namespace perp::enclosure {
namespace {

/// Every line that a system asks for.
template <class Visit>
void each_line(Dcs& system, const Visit& visit) {
  std::for_each(system.F.begin(), system.F.end(), visit);
  std::for_each(system.G.begin(), system.G.end(), visit);
  for (Reset& reset : system.resets) {
    visit(reset.condition);
    std::for_each(reset.values.begin(), reset.values.end(), visit);
  }
}

}  // namespace

Dcs with_moved_inputs(const Dcs& system, const std::function<int(int)>& moved) {
  Dcs result = system;
  std::vector<int> lines;
  each_line(result, [&](int line) { lines.push_back(line); });
  result.tape = perp::with_moved_inputs(system.tape, moved, lines);
  auto next = lines.begin();
  each_line(result, [&](int& line) { line = *next++; });
  return result;
}

}  // namespace perp::enclosure

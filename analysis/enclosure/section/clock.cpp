// Time as a variable of a system; called where sets are followed from section to section.
#include <algorithm>
#include <vector>

#include <perp/analysis/enclosure/section/clock.hpp>
#include <perp/core/expression/moved_inputs.hpp>

namespace perp::enclosure {

namespace {

/// t | ẋ | x | λ | p  →  t | ẋ, ċ | x, c | λ | p, with c in the place of t.
int renumbered(int input, int n) {
  if (input == Dcs::time_input()) return 2 * n + 2;
  return input <= n ? input : input <= 2 * n ? input + 1 : input + 2;
}

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

Dcs with_clock(const Dcs& system) {
  const int n = system.n();
  Dcs result = system;
  std::vector<int> lines;
  each_line(result, [&](int line) { lines.push_back(line); });
  result.tape =
      with_moved_inputs(system.tape, [n](int input) { return renumbered(input, n); }, lines);
  auto next = lines.begin();
  each_line(result, [&](int& line) { line = *next++; });
  const int rate = result.tape.input(1 + n);
  result.F.push_back(result.tape.apply(Operation::subtract, rate, result.tape.constant(1)));
  return result;
}

}  // namespace perp::enclosure

// Time as a variable of a system; called where sets are followed from section to section.
#include <vector>

#include <perp/analysis/enclosure/section/clock.hpp>

namespace perp::enclosure {

Dcs with_clock(const Dcs& system) {
  const int n = system.n();
  Dcs result = system;
  result.tape = {};
  const auto renumbered = [&](int input) {  // t | ẋ, ċ | x, c | λ | p, with c in the place of t
    if (input == Dcs::time_input()) return 2 * n + 2;
    return input <= n ? input : input <= 2 * n ? input + 1 : input + 2;
  };
  std::vector<int> lines;
  const auto at = [&](int line) { return line < 0 ? -1 : lines[static_cast<std::size_t>(line)]; };
  for (int k = 0; k < system.tape.size(); ++k) {
    const Instruction& line = system.tape[k];
    if (line.operation == Operation::constant)
      lines.push_back(result.tape.constant(line.value));
    else if (line.operation == Operation::input)
      lines.push_back(result.tape.input(renumbered(line.a)));
    else
      lines.push_back(result.tape.apply(line.operation, at(line.a), at(line.b)));
  }
  for (std::vector<int>* list : {&result.F, &result.G})
    for (int& line : *list) line = at(line);
  for (Reset& reset : result.resets) {
    reset.condition = at(reset.condition);
    for (int& line : reset.values) line = at(line);
  }
  const int rate = result.tape.input(1 + n);
  result.F.push_back(result.tape.apply(Operation::subtract, rate, result.tape.constant(1)));
  return result;
}

}  // namespace perp::enclosure

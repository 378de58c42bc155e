// Time as a variable of a system; called where sets are followed from section to section.
#include <algorithm>
#include <vector>

#include <perp/analysis/enclosure/section/clock.hpp>

namespace perp::enclosure {

namespace {

/// t | ẋ | x | λ | p  →  t | ẋ, ċ | x, c | λ | p, with c in the place of t.
int renumbered(int input, int n) {
  if (input == Dcs::time_input()) return 2 * n + 2;
  return input <= n ? input : input <= 2 * n ? input + 1 : input + 2;
}

/// The lines of `from` on an empty tape: the number of each.
std::vector<int> copy_lines(const Tape& from, int n, Tape& to) {
  std::vector<int> lines;
  const auto at = [&](int line) { return line < 0 ? -1 : lines[static_cast<std::size_t>(line)]; };
  for (int k = 0; k < from.size(); ++k) {
    const Instruction& line = from[k];
    if (line.operation == Operation::constant)
      lines.push_back(to.constant(line.value));
    else if (line.operation == Operation::input)
      lines.push_back(to.input(renumbered(line.a, n)));
    else
      lines.push_back(to.apply(line.operation, at(line.a), at(line.b)));
  }
  return lines;
}

}  // namespace

Dcs with_clock(const Dcs& system) {
  const int n = system.n();
  Dcs result = system;
  result.tape = {};
  const std::vector<int> lines = copy_lines(system.tape, n, result.tape);
  const auto move = [&](int& line) { line = lines[static_cast<std::size_t>(line)]; };
  std::for_each(result.F.begin(), result.F.end(), move);
  std::for_each(result.G.begin(), result.G.end(), move);
  for (Reset& reset : result.resets) {
    move(reset.condition);
    std::for_each(reset.values.begin(), reset.values.end(), move);
  }
  const int rate = result.tape.input(1 + n);
  result.F.push_back(result.tape.apply(Operation::subtract, rate, result.tape.constant(1)));
  return result;
}

}  // namespace perp::enclosure

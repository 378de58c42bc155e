// Time as a variable of a system; called where sets are followed from section to section.
#include <perp/analysis/enclosure/parts/moved_system.hpp>
#include <perp/analysis/enclosure/section/clock.hpp>

namespace perp::enclosure {

namespace {

/// t | ẋ | x | λ | p  →  t | ẋ, ċ | x, c | λ | p, with c in the place of t.
int renumbered(int input, int n) {
  if (input == Dcs::time_input()) return 2 * n + 2;
  return input <= n ? input : input <= 2 * n ? input + 1 : input + 2;
}

}  // namespace

Dcs with_clock(const Dcs& system) {
  const int n = system.n();
  Dcs result = with_moved_inputs(system, [n](int input) { return renumbered(input, n); });
  const int rate = result.tape.input(1 + n);
  result.F.push_back(result.tape.apply(Operation::subtract, rate, result.tape.constant(1)));
  return result;
}

}  // namespace perp::enclosure

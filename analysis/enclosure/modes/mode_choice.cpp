// Which unknown an equation of a mode gives; called where modes become differential equations.
#include <algorithm>
#include <cmath>
#include <tuple>

#include <perp/analysis/enclosure/modes/law_coupling.hpp>
#include <perp/analysis/enclosure/modes/mode_solver.hpp>

namespace perp::enclosure {

/// What no state changes first, then what is evaluated near the set. By an unknown is not divided:
/// where it is 0 there may be another solution.
Divisor ModeSolver::rate(int line, double& size) const {
  if (lines_.is_number(line)) {
    size = std::abs(tape_[line].value);
    return size == 0 ? Divisor::none : Divisor::constant;
  }
  if (!unknowns_of(line).empty()) return Divisor::none;
  size = near(line);
  if (!(size > 0) || !std::isfinite(size)) return Divisor::none;
  return is_constant_line(system_, space_, lines_, line) ? Divisor::constant : Divisor::of_states;
}

/// The size of a line near the set.
double ModeSolver::near(int line) const {
  std::vector<double> values(static_cast<std::size_t>(tape_.size()));
  tape_.evaluate(std::span<const double>(near_), std::span<double>(values));
  return std::abs(values[static_cast<std::size_t>(line)]);
}

/// The equation with the fewest unknowns first, and of these what it gives by itself: that does not depend on
/// units, as sizes do.
void ModeSolver::consider(int equation, int input, int others, Choice& best) {
  const Equation& of = equations_[static_cast<std::size_t>(equation)];
  const int coefficient = lines_.derivative(of.line, input);
  if (lines_.depends(coefficient, input)) return;
  const bool of_state = is_state(input);
  if (of_state && !is_constant_line(system_, space_, lines_, coefficient)) return;
  Choice choice{equation, input, coefficient, Divisor::none, 0};
  choice.divisor = rate(coefficient, choice.size);
  if (choice.divisor == Divisor::none) return;
  choice.is_bent = !of_state && is_bent(equation, input);
  choice.others = others;
  choice.is_own = std::binary_search(of.held.begin(), of.held.end(), input);
  choice.is_rate = is_rate(input);
  choice.is_number = lines_.is_number(coefficient);
  if (of_state && others > 1) choice.sway = choice.size * sway(of, input);
  const auto rank = [](const Choice& one) {
    return std::tuple(one.divisor != Divisor::none, !one.is_bent, one.divisor, one.sway, -one.others,
                      one.is_own, one.is_rate, one.is_number, one.size);
  };
  if (rank(best) < rank(choice)) best = choice;
}

/// |∂x_j'/∂u| near the set, u the multipliers and algebraic variables, or the multiplier of the law: the
/// state that a surface moves most is the one to compute from the others, whatever its unit is.
double ModeSolver::sway(const Equation& surface, int state) {
  const int rate = system_.derivative_input(state - system_.variable_input(0));
  double most = 0;
  for (const int line : system_.F) {
    if (!lines_.depends(line, rate)) continue;
    const double own = near(lines_.derivative(line, rate));
    if (!(own > 0)) continue;
    for (const int input : unknowns_of(line)) {
      if (is_rate(input) || (surface.law >= 0 && input != system_.multiplier_input(surface.law))) continue;
      const double share = near(lines_.derivative(line, input)) / own;
      if (std::isfinite(share)) most = std::max(most, share);
    }
  }
  return most;
}

/// Does another equation hold the unknown otherwise than by sums and products? Then it is left to that one,
/// if it can be: what it depends on is not mixed with what stands here.
bool ModeSolver::is_bent(int equation, int input) {
  for (int k = 0; k < static_cast<int>(equations_.size()); ++k) {
    const Equation& other = equations_[static_cast<std::size_t>(k)];
    if (k != equation && other.is_open && lines_.depends(lines_.derivative(other.line, input), input))
      return true;
  }
  return false;
}

}  // namespace perp::enclosure

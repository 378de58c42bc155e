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

/// As the divisor that gives each of these, which are all that the equation holds of their kind.
void ModeSolver::consider_all(int equation, const std::vector<int>& inputs, Choice& best) {
  for (const int input : inputs) consider(equation, input, static_cast<int>(inputs.size()), best);
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

/// The root of a factor u − u0 of the equation, with u0 a formula of time and states; −1: it has none.
/// Were it one, u0 = −β/α of α u + β for every value of the other unknowns.
int ModeSolver::root_of_factor(int line, int input, int factor) {
  const auto with = [&](int of, int unknown, int value) {
    lines_.substitute(std::span(&of, 1), {{unknown, value}});
    return of;
  };
  const int zero = lines_.number(0), rest = with(line, input, zero);
  if (lines_.is_number(rest, 0)) return zero;
  for (const int other : unknowns_of(line)) {
    if (other == input) continue;
    const int divisor = with(factor, other, zero);
    if (!lines_.is_nonzero(divisor)) continue;
    const int root = lines_.divide(lines_.negate(with(rest, other, zero)), divisor);
    if (unknowns_of(root).empty() && lines_.is_number(with(line, input, root), 0)) return root;
  }
  return -1;
}

/// a (u − u0) = 0, where a holds unknowns: u = u0 and a ≠ 0, or a = 0 and u ≠ u0. Both at once is no
/// simple root. False: no equation is such a product.
bool ModeSolver::split_product() {
  for (Equation& equation : equations_) {
    if (!equation.is_open) continue;
    for (const int input : unknowns_of(equation.line)) {
      const int factor = lines_.derivative(equation.line, input);
      if (lines_.depends(factor, input)) continue;
      const int root = root_of_factor(equation.line, input, factor);
      if (root < 0) continue;
      is_undecided_ = products_ == roots_.size();
      if (is_undecided_) return false;
      if (roots_[products_++] == 0) {
        nonzero_.push_back(factor);
        equation.is_open = false;
        replace({{input, root}});
        solved_[input] = root;
      } else {
        nonzero_.push_back(lines_.subtract(tape_.input(input), root));
        equation.line = factor;
      }
      return true;
    }
  }
  return false;
}

/// Is it a number or a parameter that is the same all the time?
bool ModeSolver::is_fixed(int line) const {
  if (lines_.is_number(line)) return true;
  const Instruction& of = tape_[line];
  const auto& varying = space_.disturbances;
  return of.operation == Operation::input && of.a >= system_.parameter_input(0) &&
         std::find(varying.begin(), varying.end(), of.a - system_.parameter_input(0)) == varying.end();
}

/// c of y + c or y − d, d = −c, where it is a number or a parameter; −1: the line is another one.
int ModeSolver::shift_in(const Instruction& line, int y) {
  const bool is_sum = line.operation == Operation::add;
  if (!is_sum && (line.operation != Operation::subtract || line.a != y)) return -1;
  const int c = line.a == y ? line.b : line.a;
  if (!is_fixed(c)) return -1;
  return is_sum ? c : lines_.negate(c);
}

/// The c with which the unknown y stands in this line; −1: as it stands elsewhere, too, it has none.
void ModeSolver::note_shift(const Instruction& line, int y, std::map<int, int>& shifts) {
  if (y < 0 || tape_[y].operation != Operation::input || !is_algebraic(tape_[y].a)) return;
  const int c = shift_in(line, y);
  const auto [place, is_new] = shifts.try_emplace(tape_[y].a, c);
  if (!is_new && place->second != c) place->second = -1;
}

// B (y + c), B an interval: of −c + r/B the c does not cancel, of y + c = r/B there is none.
void ModeSolver::shift_unknowns() {
  std::vector<int> roots;
  for (const Equation& equation : equations_) roots.push_back(equation.line);
  const std::vector<bool> needed = needed_lines(tape_, roots);
  std::map<int, int> shifts;
  for (std::size_t k = 0; k < needed.size(); ++k) {
    const Instruction line = tape_[static_cast<int>(k)];  // a copy: the tape grows
    if (!needed[k] || line.operation == Operation::input || line.operation == Operation::constant) continue;
    note_shift(line, line.a, shifts);
    note_shift(line, line.b, shifts);
  }
  for (const auto& [input, c] : shifts) {
    if (c < 0) continue;
    shifts_[input] = c;
    replace({{input, lines_.subtract(tape_.input(input), c)}});
  }
}

/// Those that no equation has given so far are themselves again.
void ModeSolver::shift_back() {
  for (const auto& [input, c] : shifts_)
    if (!solved_.contains(input)) replace({{input, lines_.add(tape_.input(input), c)}});
  std::erase_if(shifts_, [this](const auto& shift) { return !solved_.contains(shift.first); });
}

}  // namespace perp::enclosure

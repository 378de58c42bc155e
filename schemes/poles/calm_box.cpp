// Where the divisors of formulas are known to stay away from 0: asked by PoleWatch before it looks for their zeros.
#include <algorithm>
#include <cmath>

#include <perp/core/base/index.hpp>
#include <perp/core/dcs.hpp>
#include <perp/core/tape/running_error.hpp>
#include <perp/schemes/poles/calm_box.hpp>

namespace perp {
namespace {

using enclosure::Interval;

/// Of the width of the box on each side: how far PoleWatch looks beyond the ends of a step within it.
constexpr double looked_beyond = 0.14;
constexpr double rounded = 0x1p-50;    ///< of an input between two others; of a function of <cmath> beside the exact one
constexpr double most_reach = 4096;    ///< lengths of a step
constexpr double least_share = 0.6;    ///< of its largest value that a divisor keeps
constexpr double of_functions = 4;     ///< bounds over the whole box beside those at a point of it

/// What tells of a box as of its points.
bool is_known(Operation operation) { return operation != Operation::atan2 && operation != Operation::table; }

Interval widened(const Interval& value, double by) { return value + enclosure::symmetric(by); }

double coordinate(const StraightStep& step, int n, int input, bool at_end) {
  if (input == Dcs::time_input()) return at_end ? step.to_t : step.from_t;
  if (input <= 2 * n) return (at_end ? step.to_x : step.from_x)[input - 1 - n];
  return (at_end ? step.to_lambda : step.from_lambda)[input - 1 - 2 * n];
}

/// The error of a sum, a product or a quotient as RunningError has it in the least favourable case, of |result| up to
/// `size` and errors up to a and b: every rounding is monotone.
double bounded(double size, double passed) { return running_error::bound(size, passed).error; }
double rounding_of(double size) { return unit_roundoff * size + 2 * running_error::least; }

}  // namespace

CalmBox::CalmBox(const Tape& tape, const std::vector<int>& lines, int n)
    : n_(n), may_hold_(true), lines_(lines), values_(at(tape.size())) {
  const std::vector<bool> needed = needed_lines(tape, lines);
  for (int k = 0; k < tape.size(); ++k) {
    if (!needed[at(k)]) continue;
    const Instruction& what = tape[k];
    if (what.operation == Operation::constant) {
      values_[at(k)] = {Interval(what.value), 0};
    } else if (what.operation == Operation::pi) {
      const RunningError pi = ScalarTraits<RunningError>::pi();
      values_[at(k)] = {Interval(pi.value), pi.error};
    } else if (what.operation == Operation::input) {
      add_side(what.a, k);
    } else {
      may_hold_ = may_hold_ && is_known(what.operation);
      changing_.push_back({what.operation, what.a, what.b < 0 ? what.a : what.b, k});
    }
  }
}

/// No point is within it yet.
void CalmBox::add_side(int input, int line) {
  if (input > 0 && input <= n_) may_hold_ = false;  // a rate is a difference of states, which rounding moves
  sides_.push_back({input, 1, 0});
  inputs_of_sides_.push_back(line);
}

bool CalmBox::contains(const StraightStep& step) const {
  return std::ranges::all_of(sides_, [&](const Side& side) {
    const double a = coordinate(step, n_, side.input, false), b = coordinate(step, n_, side.input, true);
    return side.low <= a && a <= side.high && side.low <= b && b <= side.high;
  });
}

/// An input over the new box, of which it becomes a side, and a little beyond.
CalmBox::Spread CalmBox::ahead(std::size_t k) const {
  const Side& side = sides_[k];
  const double size = std::max(std::abs(side.low), std::abs(side.high)), width = side.high - side.low;
  const bool is_time = side.input == Dcs::time_input(), is_multiplier = side.input > 2 * n_;
  const Interval value = widened({side.low, side.high}, looked_beyond * width + rounded * size);
  return {value, is_multiplier ? 0 : (is_time ? state_rounding / 8 : state_rounding) * magnitude(value)};
}

/// Makes the box anew around the step, as far ahead as it is proved; false: there is none.
bool CalmBox::reaches(const StraightStep& step) {
  constexpr int trials = 4, few = 8;
  constexpr double shortened[trials] = {0.75, 0.5, 0.125, 0.125}, little_more = 1.125, more = 2;
  for (int trial = 0; trial < trials && may_hold_; ++trial) {
    if (is_proved_ahead(step)) {
      // Soon after less was proved than was asked for little more may be.
      reach_ = std::clamp((boxes_since_less_ < few ? little_more : more) * reach_, 1.0, most_reach);
      ++boxes_since_less_;
      return true;
    }
    if (reach_ == 0) return false;
    reach_ = reach_ > 1 ? reach_ * shortened[trial] : 0;
    boxes_since_less_ = 0;
  }
  return false;
}

bool CalmBox::is_proved_ahead(const StraightStep& step) {
  for (std::size_t k = 0; k < sides_.size(); ++k) {
    Side& side = sides_[k];
    const double a = coordinate(step, n_, side.input, false), b = coordinate(step, n_, side.input, true);
    const double more = reach_ * std::abs(b - a), back = std::min(more, std::abs(b - a));
    side.low = std::min(a, b) - (b < a ? more : back);
    side.high = std::max(a, b) + (b < a ? back : more);
    values_[at(inputs_of_sides_[k])] = ahead(k);
  }
  for (const Line& line : changing_) values_[at(line.to)] = result_of(line, values_[at(line.a)], values_[at(line.b)]);
  is_there_ = contains(step) && std::ranges::all_of(lines_, [&](int line) { return is_calm(line); });
  return is_there_;
}

/// A parabola through three values of one sign in [m, M] stays above m − (M − m)/8 between them.
bool CalmBox::is_calm(int line) const {
  const Spread& divisor = values_[at(line)];
  return divisor.value.is_bounded() && mignitude(divisor.value) > pole_distance::of_end * divisor.error &&
         mignitude(divisor.value) >= least_share * magnitude(divisor.value);
}

CalmBox::Spread CalmBox::result_of(const Line& line, const Spread& a, const Spread& b) {
  const Interval value = apply_operation(line.operation, a.value, b.value);
  if (!value.is_bounded()) return {value, inf};
  switch (line.operation) {
    case Operation::add:
    case Operation::subtract:
    case Operation::multiply:
    case Operation::divide: return {value, error_of_arithmetic(line.operation, value, a, b)};
    case Operation::negate:
    case Operation::abs: return {value, a.error};
    case Operation::min:
    case Operation::max: return {value, bounded(magnitude(value), std::max(a.error, b.error))};
    case Operation::sign: return {value, mignitude(a.value) > a.error ? 0.0 : 2.0};
    case Operation::guard: return guarded(a, b);
    default: return function_of(line.operation, a, b);
  }
}

double CalmBox::error_of_arithmetic(Operation operation, const Interval& value, const Spread& a, const Spread& b) {
  const double size = magnitude(value), of_a = magnitude(a.value), of_b = magnitude(b.value);
  if (operation == Operation::multiply)
    return bounded(size, of_a * b.error + of_b * a.error + a.error * b.error + rounding_of(size));
  if (operation != Operation::divide) return bounded(size, a.error + b.error + unit_roundoff * size);
  const double denominator = mignitude(b.value) - b.error;
  return denominator > 0 ? bounded(size, (a.error + size * b.error) / denominator + rounding_of(size)) : inf;
}

/// Its value, where the weight is not 0, that of no weight where it is, either where it may be.
CalmBox::Spread CalmBox::guarded(const Spread& weight, const Spread& a) {
  const Interval half(Instruction::unweighted);
  if (weight.value.is_zero() && weight.error == 0) return {half, 0};
  return {mignitude(weight.value) > 0 ? a.value : hull(a.value, half), a.error};
}

/// The bound over [m − r, m + r] by the largest slope there, which is none smaller than that at a point of it.
CalmBox::Spread CalmBox::function_of(Operation operation, const Spread& a, const Spread& b) {
  const Interval exact = apply_operation(operation, a.value, b.value);
  if (operation == Operation::power && !(b.value.is_point() && b.error == 0)) return {exact, inf};
  const RunningError all(middle(a.value), radius(a.value) + a.error);
  const RunningError exponent(middle(b.value));
  const RunningError result = apply_operation(operation, all, exponent);
  return {widened(exact, rounded * magnitude(exact)), of_functions * result.error};
}

}  // namespace perp

// One-sided derivatives of formulas of numbers: asked for where a solution is differentiated by such numbers.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <perp/core/base/index.hpp>
#include <perp/core/expression/dependent_lines.hpp>
#include <perp/core/expression/differentiate.hpp>
#include <perp/core/expression/kinks/formula_kinks.hpp>
#include <perp/core/tape/running_error.hpp>
#include <perp/core/tape/taylor.hpp>

namespace perp {
namespace {

using Series = Taylor<double, 8>;

constexpr double same_slope = 1e-7;   ///< relative: derivatives of both sides that count as the same
constexpr double same_value = 1e-12;  ///< relative: values of both sides that differ by rounding

RunningError known(double value) {
  return RunningError(value, std::trunc(value) == value ? 0 : unit_roundoff * std::abs(value));
}

bool may_be_zero(const RunningError& a) { return std::abs(a.value) <= a.error; }

/// Is the argument of an operation that chooses by its sign 0, but for rounding?
bool is_at_kink(Operation operation, const RunningError& x, const RunningError& y) {
  switch (operation) {
    case Operation::abs:
    case Operation::sign: return may_be_zero(x);
    case Operation::min:
    case Operation::max: return may_be_zero(x - y);
    case Operation::atan2: return may_be_zero(x) && y.value < 0;
    default: return false;
  }
}

/// The sign behind s = 0 of a series that is 0 there.
int sign_behind(Series x) {
  x[0] = 0;
  return leading_sign(x);
}

/// What an operation at its kink is behind s = 0, where its argument has this sign.
Series chosen(Operation operation, const Series& x, const Series& y, int side) {
  switch (operation) {
    case Operation::sign: return Series(side);
    case Operation::abs: return side < 0 ? -x : x;
    case Operation::min: return side < 0 ? x : y;
    case Operation::max: return side < 0 ? y : x;
    default: break;
  }
  Series angle = atan2(x, y);
  angle[0] = side * std::numbers::pi;
  return angle;
}

/// The same; an argument that stays 0 chooses what it chooses at s = 0.
Series behind_kink(Operation operation, const Series& x, const Series& y) {
  const bool has_two = operation == Operation::min || operation == Operation::max;
  const int side = sign_behind(has_two ? x - y : x);
  return side == 0 ? apply_operation(operation, x, y) : chosen(operation, x, y, side);
}

/// The lines of the tape at p + s d, s > 0.
std::vector<Series> behind(const Tape& tape, const std::vector<char>& at_kink, std::span<const double> p,
                           std::span<const double> d, double side) {
  std::vector<Series> values(at(tape.size()));
  for (int k = 0; k < tape.size(); ++k) {
    const Instruction& line = tape[k];
    Series& value = values[at(k)];
    if (line.operation == Operation::input) {
      value = Series(p[at(line.a)]);
      value[1] = side * d[at(line.a)];
    } else {
      const Series x = line.a < 0 ? Series(line.value) : values[at(line.a)], y = line.b < 0 ? x : values[at(line.b)];
      value = at_kink[at(k)] != 0 ? behind_kink(line.operation, x, y) : apply_operation(line.operation, x, y);
    }
  }
  return values;
}

bool are_near(double a, double b, double share) { return std::abs(a - b) <= share * std::max(std::abs(a), std::abs(b)); }

}  // namespace

FormulaKinks::FormulaKinks(const Tape& tape, std::span<const int> lines, int first, std::span<const double> p)
    : p_(p.begin(), p.end()) {
  keep(tape, lines, first);
  at_kink_ = kinks();
  keep_affected();
}

/// The largest formulas without inputs before the first.
void FormulaKinks::keep(const Tape& tape, std::span<const int> lines, int first) {
  const std::vector<char> moves = dependent_lines(tape, 0, first);
  const std::vector<bool> needed = needed_lines(tape, lines);
  const auto keep_fixed = [&](int line) {
    if (line >= 0 && moves[at(line)] == 0) formulas_.push_back(line);
  };
  for (const int line : lines) keep_fixed(line);
  for (int k = 0; k < tape.size(); ++k) {
    const Instruction& line = tape[k];
    if (!needed[at(k)] || moves[at(k)] == 0 || line.operation == Operation::input) continue;
    keep_fixed(line.a);
    keep_fixed(line.b);
  }
  std::ranges::sort(formulas_);
  formulas_.erase(std::unique(formulas_.begin(), formulas_.end()), formulas_.end());
  tape_ = bind_inputs(tape, std::vector<double>(at(first)), formulas_);
}

/// Which lines are at a kink?
std::vector<char> FormulaKinks::kinks() const {
  std::vector<char> found(at(tape_.size()), 0);
  std::vector<RunningError> values(found.size());
  for (int k = 0; k < tape_.size(); ++k) {
    const Instruction& line = tape_[k];
    if (line.operation == Operation::input) {
      values[at(k)] = known(p_[at(line.a)]);
      continue;
    }
    const RunningError x = line.a < 0 ? known(line.value) : values[at(line.a)], y = line.b < 0 ? x : values[at(line.b)];
    values[at(k)] = apply_operation(line.operation, x, y);
    found[at(k)] = is_at_kink(line.operation, x, y) ? 1 : 0;
  }
  return found;
}

/// The formulas that hold a kink.
void FormulaKinks::keep_affected() {
  std::vector<char> holds = at_kink_;
  for (int k = 0; k < tape_.size(); ++k) {
    const Instruction& line = tape_[k];
    if (line.operation == Operation::input) continue;
    for (const int operand : {line.a, line.b})
      if (operand >= 0 && holds[at(operand)] != 0) holds[at(k)] = 1;
  }
  std::erase_if(formulas_, [&](int formula) { return holds[at(formula)] == 0; });
}

bool FormulaKinks::are_smooth_along(std::span<const double> d) const {
  if (!any()) return true;
  const std::vector<Series> ahead = behind(tape_, at_kink_, p_, d, 1), back = behind(tape_, at_kink_, p_, d, -1);
  return std::ranges::all_of(formulas_, [&](int formula) {
    const Series &right = ahead[at(formula)], &left = back[at(formula)];
    const auto [value, slope] = with_mean_slope(formula, d);
    return are_near(right[0], value, same_value) && are_near(left[0], value, same_value) &&
           are_near(right[1], -left[1], same_slope) && are_near(right[1], slope, same_slope);
  });
}

/// Value and derivative of a formula along d, as `differentiate` has it.
std::pair<double, double> FormulaKinks::with_mean_slope(int formula, std::span<const double> d) const {
  Tape tape = tape_;
  const std::vector<Derivative> derivatives = differentiate(tape, std::span(&formula, 1), 0, static_cast<int>(p_.size()));
  std::vector<double> values(at(tape.size()));
  tape.evaluate(std::span<const double>(p_), std::span(values));
  double sum = 0;
  for (const Derivative& derivative : derivatives) sum += values[at(derivative.line)] * d[at(derivative.input)];
  return {values[at(formula)], sum};
}

}  // namespace perp

// One-sided derivatives of formulas of numbers: asked for where a solution is differentiated by such numbers.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include <perp/core/base/index.hpp>
#include <perp/core/expression/dependent_lines.hpp>
#include <perp/core/expression/differentiate.hpp>
#include <perp/core/expression/kinks/formula_kinks.hpp>
#include <perp/core/tape/running_error.hpp>

namespace perp {
namespace {

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

/// Value and derivative along d of a line, as `differentiate` has it.
std::pair<double, double> with_slope(Tape tape, int line, std::span<const double> p, std::span<const double> d) {
  const std::vector<Derivative> derivatives = differentiate(tape, std::span(&line, 1), 0, static_cast<int>(p.size()));
  std::vector<double> values(at(tape.size()));
  tape.evaluate(p, std::span(values));
  double sum = 0;
  for (const Derivative& derivative : derivatives) sum += values[at(derivative.line)] * d[at(derivative.input)];
  return {values[at(line)], sum};
}

/// The line of what an operation at its kink is where its argument x, or x - y, has this sign.
int chosen(Tape& tape, Operation operation, int x, int y, int side) {
  switch (operation) {
    case Operation::sign: return tape.constant(side);
    case Operation::abs: return side < 0 ? tape.apply(Operation::negate, x) : x;
    case Operation::min: return side < 0 ? x : y;
    case Operation::max: return side < 0 ? y : x;
    default: break;
  }
  // The angle on this side of its edge: ±π, and the slope of atan2 there.
  return tape.apply(Operation::add, tape.constant(side * std::numbers::pi), tape.apply(Operation::atan, tape.apply(Operation::divide, x, y)));
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

namespace {

/// A line without operands. Nothing: it has some.
std::optional<int> leaf(Tape& tape, const Instruction& line) {
  if (line.operation == Operation::constant) return tape.constant(line.value);
  if (line.operation == Operation::input) return tape.input(line.a);
  return std::nullopt;
}

/// What is 0 at the kink of an operation on lines x and y.
int at_zero(Tape& tape, Operation operation, int x, int y) {
  return operation == Operation::min || operation == Operation::max ? tape.apply(Operation::subtract, x, y) : x;
}

}  // namespace

/// The formulas with what their kinks choose along p + s d, s > 0: `lines` are theirs.
Tape FormulaKinks::behind(std::span<const double> d, double side, std::vector<int>& lines) const {
  Tape tape;
  std::vector<int> renamed(at(tape_.size()), -1);
  for (int k = 0; k < tape_.size(); ++k) {
    const Instruction& line = tape_[k];
    int& place = renamed[at(k)];
    if (const std::optional<int> made = leaf(tape, line)) {
      place = *made;
      continue;
    }
    const int x = line.a < 0 ? -1 : renamed[at(line.a)], y = line.b < 0 ? -1 : renamed[at(line.b)];
    place = tape.apply(line.operation, x, y);
    if (at_kink_[at(k)] == 0) continue;
    const double slope = side * with_slope(tape, at_zero(tape, line.operation, x, y), p_, d).second;
    if (slope != 0) place = chosen(tape, line.operation, x, y, slope < 0 ? -1 : 1);  // else it stays there
  }
  for (const int formula : formulas_) lines.push_back(renamed[at(formula)]);
  return tape;
}

bool FormulaKinks::are_smooth_along(std::span<const double> d) const {
  if (!any()) return true;
  std::vector<int> ahead, back;
  const Tape right = behind(d, 1, ahead), left = behind(d, -1, back);
  for (std::size_t k = 0; k < formulas_.size(); ++k) {
    const auto [value, slope] = with_slope(tape_, formulas_[k], p_, d);
    const auto of_right = with_slope(right, ahead[k], p_, d), of_left = with_slope(left, back[k], p_, d);
    if (!are_near(of_right.first, value, same_value) || !are_near(of_left.first, value, same_value)) return false;
    if (!are_near(of_right.second, of_left.second, same_slope) || !are_near(of_right.second, slope, same_slope)) return false;
  }
  return true;
}

}  // namespace perp

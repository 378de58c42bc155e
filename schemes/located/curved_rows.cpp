// Equations without derivatives that are not affine in their unknowns: looked at when a mode begins, and between the
// samples of each step in it.
#include <algorithm>

#include <perp/core/base/index.hpp>
#include <perp/core/interval/line_range.hpp>
#include <perp/schemes/located/roots/line_dependence.hpp>
#include <perp/schemes/located/curved_rows.hpp>

namespace perp {

using enclosure::Interval;
using enclosure::range_of;
using enum Dependence;

namespace {

constexpr int most_sweeps = 64;    ///< over the sides of all variables
constexpr int fine_sweeps = 12;    ///< of them, in which a variable grows by its width; later ones grow by 15 of it
constexpr double widening_at_first = 0.25;  ///< of the width of a variable, by which it is widened at first

/// Is a line not affine in what its operands are, these taken to be affine themselves?
bool begins_nonlinear(const Instruction& line, const std::vector<Dependence>& all) {
  const auto of_operand = [&](int operand) { return operand < 0 ? none : std::min(all[at(operand)], affine); };
  return line.operation != Operation::input && dependence_of(line, of_operand(line.a), of_operand(line.b)) == nonlinear;
}

/// These lines and all that they are made of, in increasing order.
std::vector<int> made_of(const Tape& tape, const std::vector<int>& lines) {
  const std::vector<bool> needed = needed_lines(tape, lines);
  std::vector<int> all;
  for (int k = 0; k < tape.size(); ++k)
    if (needed[at(k)]) all.push_back(k);
  return all;
}

/// Is one of these inputs, first to behind - 1, in what a line is made of?
bool holds_input(const Tape& tape, int line, int first, int behind) {
  return std::ranges::any_of(made_of(tape, std::vector<int>(1, line)), [&](int k) {
    return tape[k].operation == Operation::input && tape[k].a >= first && tape[k].a < behind;
  });
}

/// The range becomes what it has in common with another one that holds the same values.
void meet(Interval& range, const Interval& other) {
  if (const auto both = intersection(range, other)) range = *both;
}

}  // namespace

void CurvedRows::look_at(const ModeFlow& flow, const std::vector<Eigen::Index>& determined) {
  rows_.clear(), lines_.clear(), curved_.clear(), variables_.clear();
  formulas_ = &flow.formulas();
  const Tape& tape = formulas_->tape;
  std::vector<char> inputs(at(formulas_->parameter_input(0)) + formulas_->parameters.size(), 0);
  for (const Eigen::Index k : determined)
    if (k < flow.n()) inputs[at(formulas_->variable_input(static_cast<int>(k)))] = 1;
  const std::vector<Dependence> all = dependences(tape, inputs);
  std::vector<int> outputs;
  bool is_any_nonlinear = false;
  for (int i = 0; i < flow.n(); ++i) {
    const int row = formulas_->F[at(i)];
    const bool has_rates = holds_input(tape, row, formulas_->derivative_input(0), formulas_->variable_input(0));
    if (all[at(row)] == none || has_rates) continue;
    rows_.push_back(i), outputs.push_back(row);
    is_any_nonlinear = is_any_nonlinear || all[at(row)] == nonlinear;
  }
  if (!is_any_nonlinear) return;
  lines_ = made_of(tape, outputs);
  std::ranges::copy_if(lines_, std::back_inserter(curved_), [&](int k) { return begins_nonlinear(tape[k], all); });
  for (const Eigen::Index k : determined)
    if (k < flow.n()) add_variable(static_cast<int>(k), outputs);
}

/// A variable with those of these equations that contain it.
void CurvedRows::add_variable(int number, const std::vector<int>& outputs) {
  Variable variable{.input = formulas_->variable_input(number), .number = number};
  std::ranges::copy_if(outputs, std::back_inserter(variable.rows), [&](int row) {
    return holds_input(formulas_->tape, row, variable.input, variable.input + 1);
  });
  variable.lines = made_of(formulas_->tape, variable.rows);
  variables_.push_back(std::move(variable));
}

/// Has some equation no zero where the variable has this value, for any of the others?
bool CurvedRows::is_excluded(const Variable& variable, double value, std::vector<Interval>& box) {
  const Interval all = box[at(variable.input)];
  box[at(variable.input)] = Interval(value);
  for (const int k : variable.lines) ranges_[at(k)] = range_of(formulas_->tape[k], box, ranges_);
  box[at(variable.input)] = all;
  return std::ranges::any_of(variable.rows, [&](int row) { return certain_sign(ranges_[at(row)]) != 0; });
}

/// Moves the sides of a variable at which no equation is without zeros. True: there are none.
bool CurvedRows::widen(const Variable& variable, double growth, std::vector<Interval>& box) {
  Interval& range = box[at(variable.input)];
  const bool is_low = is_excluded(variable, range.lo, box), is_high = is_excluded(variable, range.hi, box);
  const double by = growth * (range.hi - range.lo);
  range = Interval(is_low ? range.lo : range.lo - by, is_high ? range.hi : range.hi + by);
  return is_low && is_high;
}

bool CurvedRows::widen(std::vector<Interval>& box, const Vector& least) {
  ranges_.resize(at(formulas_->tape.size()));
  for (const Variable& variable : variables_) {
    Interval& range = box[at(variable.input)];
    const double by = std::max(widening_at_first * (range.hi - range.lo), least[variable.number]);
    range = Interval(range.lo - by, range.hi + by);
  }
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    bool is_closed = true;
    for (const Variable& variable : variables_) is_closed = widen(variable, sweep < fine_sweeps ? 1 : 15, box) && is_closed;
    if (is_closed) return true;
  }
  return false;
}

namespace {

/// Factors of a product: what they may be where it is this. One of both signs tells nothing of the other.
void narrow_factors(const Interval& range, Interval& a, Interval& b) {
  if (certain_sign(b) != 0) meet(a, range / b);
  if (certain_sign(a) != 0) meet(b, range / a);
}

/// Sums and products of two: what the operands may be where the result is this.
void narrow_both(Operation operation, const Interval& range, Interval& a, Interval& b) {
  switch (operation) {
    case Operation::add: meet(a, range - b); return meet(b, range - a);
    case Operation::subtract: meet(a, range + b); return meet(b, a - range);
    case Operation::multiply: return narrow_factors(range, a, b);
    case Operation::divide: return meet(a, range * b);
    default: return;
  }
}

/// The same of any line.
void narrow_operands(const Instruction& line, const Interval& range, std::vector<Interval>& ranges) {
  if (line.operation == Operation::negate) return meet(ranges[at(line.a)], -range);
  if (line.operation != Operation::input && line.b >= 0) narrow_both(line.operation, range, ranges[at(line.a)], ranges[at(line.b)]);
}

}  // namespace

void CurvedRows::narrow(std::vector<Interval>& ranges) const {
  for (const int i : rows_) meet(ranges[at(formulas_->F[at(i)])], Interval(0.0));
  for (auto k = lines_.rbegin(); k != lines_.rend(); ++k)
    narrow_operands(formulas_->tape[*k], ranges[at(*k)], ranges);
}

}  // namespace perp

// What a search over values of binaries does before its first node: numbers, rows that are never violated, and what is
// computed at the nodes of each level.
#include <algorithm>
#include <cmath>
#include <utility>

#include <perp/analysis/hybrid/values/value_tree.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/interval/rational_tape.hpp>

namespace perp {
namespace {

using enclosure::Interval;

constexpr double infinity = std::numeric_limits<double>::infinity();

Interval interval_of(const RunningError& a) {
  if (a.error == 0) return Interval(a.value);
  const double lo = std::nextafter(a.value - a.error, -infinity), hi = std::nextafter(a.value + a.error, infinity);
  return lo <= hi ? Interval(lo, hi) : Interval(-infinity, infinity);
}

}  // namespace

ValueTree::Reach ValueTree::Reach::operator-() const { return {-values, ends_as_zero, may_be_dead}; }

/// Terms of one sign vanish together alone.
ValueTree::Reach ValueTree::Reach::operator+(const Reach& b) const {
  const bool have_one_sign = (values.lo >= 0 && b.values.lo >= 0) || (values.hi <= 0 && b.values.hi <= 0);
  return {values + b.values, ends_as_zero && b.ends_as_zero && have_one_sign, may_be_dead && b.may_be_dead};
}

/// With a factor of binaries that is 0 it is 0 whatever the other one is.
ValueTree::Reach ValueTree::Reach::operator*(const Reach& b) const {
  const bool has_zero = (values.is_zero() && ends_as_zero) || (b.values.is_zero() && b.ends_as_zero);
  return {values * b.values, has_zero || (ends_as_zero && b.ends_as_zero), may_be_dead || b.may_be_dead};
}

/// Lines without binaries; of exact states those that are not told from 0 in rational numbers.
void ValueTree::put_static() {
  const Tape& tape = program_.tape();
  for (int k = 0; k < tape.size(); ++k) {
    if (program_.level(k) > 0) continue;
    const Instruction& line = tape[k];
    RunningError& value = values_[at(k)];
    if (line.operation == Operation::constant) {
      value = RunningError(line.value);
    } else if (line.operation == Operation::input) {
      value = question_.inputs[at(line.a)];
    } else {
      put_result(k);
    }
  }
}

void ValueTree::put_result(int k) {
  const Instruction& line = program_.tape()[k];
  RunningError& value = values_[at(k)];
  const RunningError& a = line.a < 0 ? value : values_[at(line.a)];
  value = result_of(line.operation, a, line.b < 0 ? a : values_[at(line.b)]);
  if (question_.is_exact && value.error > 0 && decided_sign(value) == 0) put_exactly(k);
}

void ValueTree::put_exactly(int line) {
  RationalTape exact(program_.tape(), question_.inputs);
  const std::optional<Rational> value = exact.value(line);
  if (value && exact.is_exact && value->sign() == 0) values_[at(line)] = RunningError(0);
}

/// As far as no binary is in them.
bool ValueTree::has_finite_unknowns() {
  const auto is_number = [&](int line) { return program_.level(line) > 0 || std::isfinite(values_[at(line)].error); };
  return std::all_of(program_.unknowns().begin(), program_.unknowns().end(), is_number);
}

/// Lines where the binaries up to this level have values, and perhaps one more.
void ValueTree::bound_lines(const std::vector<int>& lines, int level, int fixed, double number) {
  for (const int k : lines) {
    Reach& reach = reaches_[at(k)];
    const Instruction& line = program_.tape()[k];
    if (program_.level(k) <= level)
      reach = reach_of(k);
    else if (line.operation == Operation::input)
      reach = {k == fixed ? Interval(number) : Interval(0, 1), true, true};
    else
      reach = reach_of(line);
    if (!program_.is_pure(k)) continue;
    reach.ends_as_zero = true;
    reach.may_be_dead = reach.values.lo <= 0 && reach.values.hi >= 0;
  }
}

/// Of a line that has a value.
ValueTree::Reach ValueTree::reach_of(int line) {
  const RunningError& value = lazily(line);
  const bool dies = decided_sign(value) == 0 && is_dead(line);
  return {interval_of(value), decided_sign(value) != 0 || dies, dies};
}

/// Of one whose operands were bounded before.
ValueTree::Reach ValueTree::reach_of(const Instruction& line) const {
  const Reach &a = reaches_[at(line.a)], &b = reaches_[at(line.b < 0 ? line.a : line.b)];
  switch (line.operation) {
    case Operation::negate: return -a;
    case Operation::add: return a + b;
    case Operation::subtract: return a + -b;
    case Operation::multiply: break;
    default: return {};
  }
  Reach product = a * b;
  if (line.a == line.b && product.values.lo < 0) product.values.lo = 0;
  return product;
}

/// A product with something that is not told from 0 is not told from it either, whatever the other factors are.
bool ValueTree::is_never_decided(int line) const {
  const Instruction& here = program_.tape()[line];
  if (program_.level(line) == 0) {
    const RunningError& value = values_[at(line)];
    return decided_sign(value) == 0 && std::isfinite(value.error) && (value.error == 0 || !question_.is_exact);
  }
  if (here.operation == Operation::negate) return is_never_decided(here.a);
  return here.operation == Operation::multiply && (is_never_decided(here.a) || is_never_decided(here.b));
}

/// Over what was bounded: 1: the row is violated by all values, −1: by none, 0: not told.
int ValueTree::outlook(int r) const {
  const Reach& value = reaches_[at(program_.rows()[at(r)].value)];
  if (!is_surface_[at(r)]) return value.is_positive() ? 1 : (value.is_satisfied() ? -1 : 0);
  const int slope = outlook_of_slope(r);
  return slope > 0 && value.may_be_dead ? 0 : slope;
}

/// Of a row with unknowns that depend on binaries this is not told.
bool ValueTree::has_surface(std::uint64_t bit, int line, double value) {
  bound_lines(lines_of_rows_, 0, line, value);
  return std::any_of(program_.rows().begin(), program_.rows().end(), [&](const ValueProgram::Row& row) {
    return (program_.held_by(row.value) & bit) != 0 && (row.has_unknowns || reaches_[at(row.value)].may_be_surface());
  });
}

std::uint64_t ValueTree::may_slide() {
  put_static();
  std::uint64_t sliding = 0;
  for (const Level& level : levels_)
    if (level.line >= 0 && has_surface(level.bit, level.line, 0) && has_surface(level.bit, level.line, 1)) sliding |= level.bit;
  return sliding;
}

/// Those that are not satisfied whatever the binaries are. False: one is violated.
bool ValueTree::find_rows() {
  for (int r = 0; r < static_cast<int>(program_.rows().size()); ++r) {
    const int line = program_.rows()[at(r)].value;
    const Reach& reach = reaches_[at(line)];
    if (reach.is_satisfied()) continue;
    if (reach.is_positive()) {
      note_left(0, r, false);
      return false;
    }
    levels_[at(program_.level(line))].rows.push_back(r);
    is_surface_[at(r)] = is_never_decided(line) ? 1 : 0;
  }
  return true;
}

std::vector<int> ValueTree::lines_for(const std::vector<int>& roots) const {
  const std::vector<bool> needed = needed_lines(program_.tape(), roots);
  std::vector<int> lines;
  for (int k = 0; k < program_.tape().size(); ++k)
    if (needed[at(k)]) lines.push_back(k);
  return lines;
}

/// What is computed at each node of a level.
void ValueTree::find_steps() {
  for (const int line : program_.denominators()) levels_[at(program_.level(line))].denominators.push_back(line);
  std::vector<int> rows, roots = program_.denominators();
  for (std::size_t d = 0; d < levels_.size(); ++d) {
    const Level& level = levels_[d];
    for (const int r : level.rows) rows.push_back(program_.rows()[at(r)].value);
    if (!level.rows.empty() || !level.denominators.empty()) last_level_ = static_cast<int>(d);
    if (level.line >= 0) is_eager_[at(level.line)] = 1;
  }
  roots.insert(roots.end(), rows.begin(), rows.end());
  add_steps(roots);
  bound_later(std::move(rows));
}

/// What is bounded at nodes: the rows, and the slopes of those that their values do not decide.
void ValueTree::bound_later(std::vector<int> rows) {
  for (const Level& level : levels_)
    for (const int r : level.rows)
      if (is_surface_[at(r)]) rows.push_back(program_.rows()[at(r)].slope);
  lines_of_rows_ = lines_for(rows);
  for (const int line : rows) last_bounded_ = std::max(last_bounded_, program_.level(line));
  if (question_.counts_all && question_.most_kept > 0) lines_of_norm_ = lines_for({program_.norm()});
}

void ValueTree::add_steps(const std::vector<int>& roots) {
  for (const int k : lines_for(roots)) {
    if (is_eager_[at(k)] || program_.level(k) == 0) continue;
    is_eager_[at(k)] = 1;
    levels_[at(program_.level(k))].steps.push_back(step_of(k));
  }
}

/// Products with bits are choices.
ValueTree::Step ValueTree::step_of(int line) const {
  const Instruction& here = program_.tape()[line];
  Step step{here.operation, false, here.a, here.b < 0 ? here.a : here.b, line};
  const bool is_product = here.operation == Operation::multiply;
  if (is_product && program_.is_bit(step.a)) std::swap(step.a, step.b);
  step.is_choice = is_product ? program_.is_bit(step.b) : program_.is_bit(line);
  return step;
}

}  // namespace perp

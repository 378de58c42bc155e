// Lines of a tape as formulas: what ExplicitForms makes its solved equations of.
#include <algorithm>
#include <set>
#include <span>

#include <perp/core/base/index.hpp>
#include <perp/core/expression/differentiate.hpp>
#include <perp/schemes/poles/lines.hpp>

namespace perp {
namespace {

bool is_number(const Tape& tape, int line) {
  return line < 0 || tape[line].operation == Operation::constant;
}

/// The determinant of the rows from `row` on and of the columns in the set, without divisions; -1: 0.
/// Each minor is made once.
class Minors {
 public:
  Minors(Tape& tape, const LineMatrix& matrix)
      : tape_(tape), matrix_(matrix), known_(std::size_t{1} << matrix.size(), unknown) {}

  int determinant() { return minor(0, (std::size_t{1} << matrix_.size()) - 1); }

 private:
  static constexpr int unknown = -2;

  int minor(std::size_t row, std::size_t columns) {
    if (row == matrix_.size()) return tape_.constant(1);
    int& line = known_[columns];
    if (line != unknown) return line;
    int sum = -1;
    bool is_odd = false;
    for (std::size_t j = 0; j < matrix_.size(); ++j) {
      if ((columns >> j & 1) == 0) continue;
      const int entry = matrix_[row][j];
      const int rest = entry < 0 ? -1 : minor(row + 1, columns & ~(std::size_t{1} << j));
      if (rest >= 0) sum = added(sum, applied(tape_, Operation::multiply, entry, rest), is_odd);
      is_odd = !is_odd;
    }
    return known_[columns] = sum;
  }

  int added(int sum, int term, bool is_subtracted) {
    if (sum < 0) return is_subtracted ? applied(tape_, Operation::negate, term) : term;
    return applied(tape_, is_subtracted ? Operation::subtract : Operation::add, sum, term);
  }

  Tape& tape_;
  const LineMatrix& matrix_;
  std::vector<int> known_;
};

}  // namespace

namespace {

bool is(const Tape& tape, int line, double value) {
  return line >= 0 && is_number(tape, line) && tape[line].value == value;
}

/// a ± b, -1: nothing is left out.
int short_sum(Tape& tape, Operation operation, int a, int b) {
  if (is(tape, b, 0)) return a;
  if (!is(tape, a, 0)) return -1;
  return operation == Operation::add ? b : tape.apply(Operation::negate, b);
}

int short_product(Tape& tape, int a, int b) {
  if (is(tape, a, 0) || is(tape, b, 0)) return tape.constant(0);
  if (is(tape, a, 1)) return b;
  return is(tape, b, 1) ? a : -1;
}

int without_neutral(Tape& tape, Operation operation, int a, int b) {
  switch (operation) {
    case Operation::add:
    case Operation::subtract: return short_sum(tape, operation, a, b);
    case Operation::multiply: return short_product(tape, a, b);
    case Operation::divide: return is(tape, b, 1) ? a : -1;
    case Operation::guard:
      if (!is_number(tape, a)) return -1;
      return is(tape, a, 0) ? tape.constant(Instruction::unweighted) : b;
    default: return -1;
  }
}

}  // namespace

int applied(Tape& tape, Operation operation, int a, int b) {
  if (a >= 0 && is_number(tape, a) && is_number(tape, b)) {
    const double x = tape[a].value;
    return tape.constant(apply_operation(operation, x, b < 0 ? x : tape[b].value));
  }
  const int line = without_neutral(tape, operation, a, b);
  return line >= 0 ? line : tape.apply(operation, a, b);
}

bool depends(const Tape& tape, int line, const std::vector<int>& inputs) {
  const std::vector<bool> needed = needed_lines(tape, std::span(&line, 1));
  for (int k = 0; k <= line; ++k)
    if (needed[static_cast<std::size_t>(k)] && tape[k].operation == Operation::input &&
        std::find(inputs.begin(), inputs.end(), tape[k].a) != inputs.end())
      return true;
  return false;
}

std::vector<int> inputs_of(const Tape& tape, const std::vector<int>& lines) {
  const std::vector<bool> needed = needed_lines(tape, lines);
  std::set<int> inputs;
  for (int k = 0; k < tape.size(); ++k)
    if (needed[at(k)] && tape[k].operation == Operation::input) inputs.insert(tape[k].a);
  return {inputs.begin(), inputs.end()};
}

Substitution::Substitution(const Tape& from, Tape& to, int inputs)
    : from_(from), to_(to), line_of_input_(static_cast<std::size_t>(inputs)) {
  for (int k = 0; k < inputs; ++k) line_of_input_[at(k)] = to.input(k);
}

std::vector<int> Substitution::operator()(const std::vector<int>& lines) {
  const std::vector<bool> needed = needed_lines(from_, lines);
  std::vector<int> copies(needed.size(), -1), result;
  for (int k = 0; k < from_.size(); ++k) {
    if (!needed[at(k)]) continue;
    const Instruction& line = from_[k];
    const int a = line.a < 0 || line.operation == Operation::input ? -1 : copies[at(line.a)];
    const int b = line.b < 0 ? -1 : copies[at(line.b)];
    copies[at(k)] = copy(line, a, b);
  }
  for (const int line : lines) result.push_back(copies[at(line)]);
  return result;
}

int Substitution::copy(const Instruction& line, int a, int b) {
  if (line.operation == Operation::constant) return to_.constant(line.value);
  if (line.operation == Operation::input) return line_of_input_[at(line.a)];
  if (line.operation == Operation::guard && !open_.empty() && depends(from_, line.a, open_)) return b;
  return applied(to_, line.operation, a, b);
}

int determinant(Tape& tape, const LineMatrix& matrix) { return Minors(tape, matrix).determinant(); }

}  // namespace perp

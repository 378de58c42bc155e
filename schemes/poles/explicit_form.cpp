// Solves the equations of a mode for what they determine, as formulas, so that PoleWatch finds the
// divisors that the model's author did not write.
#include <algorithm>
#include <span>

#include <perp/core/linear/structure.hpp>
#include <perp/schemes/poles/explicit_form.hpp>

namespace perp {
namespace {

/// Adds the lines whose zeros are those of `line`.
void add_factors_of(const Tape& tape, int line, std::vector<int>& factors) {
  const Instruction& what = tape[line];
  switch (what.operation) {
    case Operation::constant:
    case Operation::pi: return;
    case Operation::negate:
    case Operation::power:
    case Operation::abs: return add_factors_of(tape, what.a, factors);
    case Operation::divide: return add_factors_of(tape, what.a, factors);
    case Operation::multiply:
      add_factors_of(tape, what.a, factors);
      return add_factors_of(tape, what.b, factors);
    default:
      if (std::find(factors.begin(), factors.end(), line) == factors.end()) factors.push_back(line);
  }
}

bool is_number(const Tape& tape, int line) {
  return line < 0 || tape[line].operation == Operation::constant;
}

/// One operation, made at once on numbers; sums with 0 and products with 0 and 1 are left out, so that
/// factors are seen.
int applied(Tape& tape, Operation operation, int a, int b = -1) {
  if (a >= 0 && is_number(tape, a) && is_number(tape, b)) {
    const double x = tape[a].value;
    return tape.constant(apply_operation(operation, x, b < 0 ? x : tape[b].value));
  }
  const auto is = [&](int line, double value) {
    return line >= 0 && is_number(tape, line) && tape[line].value == value;
  };
  if (operation == Operation::add && is(a, 0)) return b;
  if ((operation == Operation::add || operation == Operation::subtract) && is(b, 0)) return a;
  if (operation == Operation::subtract && is(a, 0)) return tape.apply(Operation::negate, b);
  if (operation == Operation::multiply && (is(a, 0) || is(b, 0))) return tape.constant(0);
  if (operation == Operation::multiply && is(a, 1)) return b;
  if ((operation == Operation::multiply || operation == Operation::divide) && is(b, 1)) return a;
  return tape.apply(operation, a, b);
}

/// Lines of one tape made of those of another, in which inputs are replaced by lines.
class Substitution {
 public:
  Substitution(const Tape& from, Tape& to, int inputs)
      : from_(from), to_(to), line_of_input_(static_cast<std::size_t>(inputs)) {
    for (int k = 0; k < inputs; ++k) line_of_input_[at(k)] = to.input(k);
  }

  void replace(int input, int line) { line_of_input_[at(input)] = line; }
  [[nodiscard]] int line_of(int input) const { return line_of_input_[at(input)]; }

  std::vector<int> operator()(const std::vector<int>& lines) {
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

 private:
  static std::size_t at(int k) { return static_cast<std::size_t>(k); }

  int copy(const Instruction& line, int a, int b) {
    if (line.operation == Operation::constant) return to_.constant(line.value);
    if (line.operation == Operation::input) return line_of(line.a);
    return applied(to_, line.operation, a, b);
  }

  const Tape& from_;
  Tape& to_;
  std::vector<int> line_of_input_;
};

/// Does a line depend on one of the inputs?
bool depends(const Tape& tape, int line, const std::vector<int>& inputs) {
  const std::vector<bool> needed = needed_lines(tape, std::span(&line, 1));
  for (int k = 0; k <= line; ++k)
    if (needed[static_cast<std::size_t>(k)] && tape[k].operation == Operation::input &&
        std::find(inputs.begin(), inputs.end(), tape[k].a) != inputs.end())
      return true;
  return false;
}

/// A square matrix of lines; -1: 0.
using LineMatrix = std::vector<std::vector<int>>;

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

/// The equations of one mode.
class ModeEquations {
 public:
  ModeEquations(const Dcs& system, const std::vector<char>& differential, const Mode& mode)
      : system_(system) {
    write_equations(mode);
    for (int j = 0; j < system.n(); ++j) {
      if (differential[static_cast<std::size_t>(j)] != 0)
        unknowns_.push_back(system.derivative_input(j));
      else
        unknowns_.push_back(system.variable_input(j));
    }
    for (int i = 0; i < system.m(); ++i)
      if (branch(mode, i).a != 0) unknowns_.push_back(system.multiplier_input(i));
    derivatives_ = differentiate(tape_, equations_, 0, inputs());
  }

  ExplicitForm solved() {
    ExplicitForm form;
    Substitution substitution(tape_, form.tape, inputs());
    std::vector<int> open;
    for (const Block& block : blocks(open))
      if (!solve(block, substitution, form))
        open.insert(open.end(), block.rows.begin(), block.rows.end());
    std::vector<int> rest;
    for (const int row : open) rest.push_back(equations_[static_cast<std::size_t>(row)]);
    rest.insert(rest.end(), arguments_.begin(), arguments_.end());
    const std::vector<int> lines = substitution(rest);
    form.rows.insert(form.rows.end(), lines.begin(), lines.end());
    return form;
  }

 private:
  struct Block {
    std::vector<int> rows;      ///< of the equations
    std::vector<int> unknowns;  ///< inputs
  };

  [[nodiscard]] int inputs() const { return system_.parameter_input(0); }
  [[nodiscard]] const Branch& branch(const Mode& mode, int law) const {
    const auto i = static_cast<std::size_t>(law);
    return system_.laws[i].branches[static_cast<std::size_t>(mode[i])];
  }

  /// F, and a w + b λ − c of the laws whose branch does not fix λ; a fixed one is a number.
  void write_equations(const Mode& mode) {
    Substitution fixed(system_.tape, tape_, inputs());
    for (int i = 0; i < system_.m(); ++i)
      if (branch(mode, i).a == 0)
        fixed.replace(system_.multiplier_input(i),
                      tape_.constant(branch(mode, i).c / branch(mode, i).b));
    equations_ = fixed(system_.F);
    arguments_ = fixed(system_.G);
    for (int i = 0; i < system_.m(); ++i) {
      const Branch& piece = branch(mode, i);
      if (piece.a == 0) continue;
      int row = arguments_[static_cast<std::size_t>(i)];
      if (piece.a != 1) row = tape_.apply(Operation::multiply, tape_.constant(piece.a), row);
      if (piece.b != 0) {
        const int lambda = tape_.input(system_.multiplier_input(i));
        const int factor = tape_.constant(piece.b);
        row = tape_.apply(Operation::add, row, tape_.apply(Operation::multiply, factor, lambda));
      }
      if (piece.c != 0) row = tape_.apply(Operation::subtract, row, tape_.constant(piece.c));
      equations_.push_back(row);
    }
  }

  /// The derivative of an equation with respect to an unknown; -1: 0.
  [[nodiscard]] int derivative(int row, int unknown) const {
    for (const Derivative& entry : derivatives_)
      if (entry.output == row && entry.input == unknown) return entry.line;
    return -1;
  }

  /// The blocks of the part that is square by its structure, each after those that it needs; `open`
  /// gets the other equations.
  std::vector<Block> blocks(std::vector<int>& open) const {
    const auto count = equations_.size();
    std::vector<int> column_of(static_cast<std::size_t>(inputs()), -1);
    for (std::size_t k = 0; k < unknowns_.size(); ++k)
      column_of[static_cast<std::size_t>(unknowns_[k])] = static_cast<int>(k);
    linear::Pattern pattern(count);
    for (const Derivative& entry : derivatives_)
      if (const int column = column_of[static_cast<std::size_t>(entry.input)]; column >= 0)
        pattern[static_cast<std::size_t>(entry.output)].push_back(column);
    const linear::Matching matching =
        linear::maximum_matching(pattern, static_cast<int>(unknowns_.size()));
    const std::vector<char> is_left_out = rows_without_solution(pattern, matching);
    linear::Pattern before(count);  // the rows that solve what a row needs
    for (std::size_t row = 0; row < count; ++row)
      for (const int column : pattern[row])
        if (const int other = matching.row_of_column[static_cast<std::size_t>(column)];
            is_left_out[row] == 0 && other >= 0)
          before[row].push_back(other);
    const linear::Components components = linear::strong_components(before);
    std::vector<Block> list(static_cast<std::size_t>(components.count));
    for (std::size_t row = 0; row < count; ++row) {
      if (is_left_out[row] != 0) {
        open.push_back(static_cast<int>(row));
        continue;
      }
      Block& block = list[static_cast<std::size_t>(components.of_node[row])];
      block.rows.push_back(static_cast<int>(row));
      block.unknowns.push_back(
          unknowns_[static_cast<std::size_t>(matching.column_of_row[row])]);
    }
    std::erase_if(list, [](const Block& block) { return block.rows.empty(); });
    return list;
  }

  /// Rows that alternating paths lead to from a column or a row without partner: those of the
  /// underdetermined and of the overdetermined part.
  static std::vector<char> rows_without_solution(const linear::Pattern& pattern,
                                                 const linear::Matching& matching) {
    const auto rows = pattern.size();
    std::vector<char> is_under(rows, 0), is_over(rows, 0), is_open(matching.row_of_column.size(), 0);
    for (std::size_t c = 0; c < is_open.size(); ++c) is_open[c] = matching.row_of_column[c] < 0;
    for (std::size_t r = 0; r < rows; ++r) is_over[r] = matching.column_of_row[r] < 0;
    for (bool grows = true; grows;) {
      grows = false;
      for (std::size_t r = 0; r < rows; ++r)
        for (const int c : pattern[r]) {
          const auto column = static_cast<std::size_t>(c);
          const int partner = matching.row_of_column[column];
          if (is_open[column] != 0 && is_under[r] == 0) {
            is_under[r] = 1;
            if (matching.column_of_row[r] >= 0)
              is_open[static_cast<std::size_t>(matching.column_of_row[r])] = 1;
            grows = true;
          }
          if (is_over[r] != 0 && partner >= 0 && is_over[static_cast<std::size_t>(partner)] == 0) {
            is_over[static_cast<std::size_t>(partner)] = 1;
            grows = true;
          }
        }
    }
    for (std::size_t r = 0; r < rows; ++r) is_over[r] = is_over[r] != 0 || is_under[r] != 0;
    return is_over;
  }

  /// Cramer's rule: v_i = −det(A with column i replaced by the rows at v = 0) / det A. False: the block
  /// is not affine, or too large.
  bool solve(const Block& block, Substitution& substitution, ExplicitForm& form) {
    const auto size = block.rows.size();
    if (size > largest_solved_block) return false;
    std::vector<int> lines;  // entries that are not 0, row after row
    LineMatrix place(size, std::vector<int>(size, -1));
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j) {
        const int line = derivative(block.rows[i], block.unknowns[j]);
        if (line < 0) continue;
        if (depends(tape_, line, block.unknowns)) return false;
        place[i][j] = static_cast<int>(lines.size());
        lines.push_back(line);
      }
    const std::vector<int> entries = substitution(lines);
    LineMatrix matrix = place;
    for (auto& row : matrix)
      for (int& entry : row)
        if (entry >= 0) entry = entries[static_cast<std::size_t>(entry)];
    const int determinant = Minors(form.tape, matrix).determinant();
    if (determinant < 0) return false;
    for (const int unknown : block.unknowns)
      substitution.replace(unknown, form.tape.constant(0));
    lines.clear();
    for (const int row : block.rows) lines.push_back(equations_[static_cast<std::size_t>(row)]);
    const std::vector<int> at_zero = substitution(lines);
    for (std::size_t j = 0; j < size; ++j) {
      LineMatrix replaced = matrix;
      for (std::size_t i = 0; i < size; ++i) replaced[i][j] = at_zero[i];
      const int numerator = Minors(form.tape, replaced).determinant();
      const int negative =
          applied(form.tape, Operation::negate, numerator < 0 ? form.tape.constant(0) : numerator);
      form.rows.push_back(applied(form.tape, Operation::divide, negative, determinant));
    }
    const auto first = form.rows.end() - static_cast<std::ptrdiff_t>(size);
    for (std::size_t j = 0; j < size; ++j)
      substitution.replace(block.unknowns[j], first[static_cast<std::ptrdiff_t>(j)]);
    return true;
  }

  const Dcs& system_;
  Tape tape_;
  std::vector<int> equations_, arguments_, unknowns_;
  std::vector<Derivative> derivatives_;
};

}  // namespace

std::vector<int> divisors_of(Tape& tape, const std::vector<int>& rows) {
  const std::vector<bool> needed = needed_lines(tape, rows);
  std::vector<int> factors;
  for (int k = 0, count = tape.size(); k < count; ++k) {
    if (!needed[static_cast<std::size_t>(k)]) continue;
    const Instruction what = tape[k];
    if (what.operation == Operation::divide)
      add_factors_of(tape, what.b, factors);
    else if (what.operation == Operation::power &&
             tape[what.b].operation == Operation::constant && tape[what.b].value < 0)
      add_factors_of(tape, what.a, factors);
    else if (what.operation == Operation::tan)
      add_factors_of(tape, tape.apply(Operation::cos, what.a), factors);
  }
  return factors;
}

ExplicitForms::ExplicitForms(const Dcs& system)
    : differential_(static_cast<std::size_t>(system.n()), 0) {
  std::vector<int> lines = system.F;
  lines.insert(lines.end(), system.G.begin(), system.G.end());
  system_.tape = bind_inputs(system.tape, system.parameter_input(0), system.parameters, lines);
  const auto end_of_F = lines.begin() + system.n();
  system_.F.assign(lines.begin(), end_of_F);
  system_.G.assign(end_of_F, lines.end());
  system_.laws = system.laws;

  Tape tape = system_.tape;
  may_divide_ = !divisors_of(tape, lines).empty();
  const std::vector<Derivative> derivatives =
      differentiate(tape, lines, 0, system_.parameter_input(0));
  for (const Derivative& entry : derivatives)
    if (entry.input >= system_.derivative_input(0) && entry.input < system_.variable_input(0))
      differential_[static_cast<std::size_t>(entry.input - system_.derivative_input(0))] = 1;
  const auto may_be_unknown = [&](int input) {
    if (input >= system_.multiplier_input(0)) {
      const Law& law = system_.laws[static_cast<std::size_t>(input - system_.multiplier_input(0))];
      return std::any_of(law.branches.begin(), law.branches.end(),
                         [](const Branch& branch) { return branch.a != 0; });
    }
    const int j = input - system_.variable_input(0);
    return input > 0 && (j < 0 || differential_[static_cast<std::size_t>(j)] == 0);
  };
  for (const Derivative& entry : derivatives)
    may_divide_ = may_divide_ || (tape[entry.line].operation != Operation::constant &&
                                  may_be_unknown(entry.input));
}

ExplicitForm ExplicitForms::form(const Mode& mode) const {
  return ModeEquations(system_, differential_, mode).solved();
}

}  // namespace perp

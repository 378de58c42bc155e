// Solves the equations of a mode for what they determine, as formulas, so that PoleWatch finds the
// divisors that the model's author did not write.
#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include <perp/core/linear/structure.hpp>
#include <perp/schemes/poles/explicit_form.hpp>
#include <perp/schemes/poles/lines.hpp>

namespace perp {
namespace {

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
    column_of_.assign(static_cast<std::size_t>(inputs()), -1);
    for (std::size_t k = 0; k < unknowns_.size(); ++k)
      column_of_[static_cast<std::size_t>(unknowns_[k])] = static_cast<int>(k);
    drop_guards();
    derivatives_ = differentiate(tape_, equations_, 0, inputs());
    differentiate_constraints();
  }

  ExplicitForm solved() {
    ExplicitForm form;
    Substitution substitution(tape_, form.tape, inputs());
    std::vector<int> open;
    std::vector<Block> implicit;
    for (const Block& block : blocks(open))
      if (!solve(block, substitution, form)) {
        open.insert(open.end(), block.rows.begin(), block.rows.end());
        implicit.push_back(block);
      }
    group(implicit, substitution, form);
    std::vector<int> rest;
    for (const int row : open) rest.push_back(equations_[static_cast<std::size_t>(row)]);
    rest.insert(rest.end(), arguments_.begin(), arguments_.end());
    rest.insert(rest.end(), conditions_.begin(), conditions_.end());
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

  /// The line a w + b λ − c of a law.
  int law_equation(const Branch& piece, int law) {
    int row = arguments_[static_cast<std::size_t>(law)];
    if (piece.a != 1) row = tape_.apply(Operation::multiply, tape_.constant(piece.a), row);
    if (piece.b != 0) {
      const int lambda = tape_.input(system_.multiplier_input(law));
      const int factor = tape_.constant(piece.b);
      row = tape_.apply(Operation::add, row, tape_.apply(Operation::multiply, factor, lambda));
    }
    if (piece.c != 0) row = tape_.apply(Operation::subtract, row, tape_.constant(piece.c));
    return row;
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
    std::vector<int> conditions;
    for (const Reset& reset : system_.resets) conditions.push_back(reset.condition);
    conditions_ = fixed(conditions);
    for (int i = 0; i < system_.m(); ++i)
      if (branch(mode, i).a != 0) equations_.push_back(law_equation(branch(mode, i), i));
  }

  /// A weight times a function of guard(weight, x) is that weight times the function of x. Rows that are affine in the
  /// unknowns without the guards whose weights are unknowns are taken without them.
  void drop_guards() {
    const Tape guarded = tape_;
    Substitution open(guarded, tape_, inputs());
    open.drop_guards(unknowns_);
    for (int& row : equations_)
      if (const int line = open({row}).front(); has_guard(guarded, row) && is_affine(line)) row = line;
  }

  static bool has_guard(const Tape& tape, int row) {
    const std::vector<bool> needed = needed_lines(tape, std::span(&row, 1));
    for (int k = 0; k <= row; ++k)
      if (needed[static_cast<std::size_t>(k)] && tape[k].operation == Operation::guard) return true;
    return false;
  }

  /// Are the derivatives of a line with respect to the unknowns no functions of these?
  bool is_affine(int line) {
    return std::ranges::none_of(differentiate(tape_, std::span(&line, 1), 0, inputs()), [this](const Derivative& entry) {
      return column_of_[static_cast<std::size_t>(entry.input)] >= 0 && depends(tape_, entry.line, unknowns_);
    });
  }

  /// Index 2: rows without unknowns, 0 = g(t, x), hold along the solution, 0 = ∂g/∂t + ∂g/∂x ẋ. Taken
  /// where all unknowns have an equation then; the constraints stand among the arguments.
  void differentiate_constraints() {
    const std::vector<int> given = equations_;
    const linear::Pattern pattern = pattern_of_unknowns();
    for (std::size_t row = 0; row < given.size(); ++row) {
      if (!pattern[row].empty()) continue;
      int sum = tape_.constant(0);
      for (const Derivative& entry : derivatives_)
        if (entry.output == static_cast<int>(row)) sum = applied(tape_, Operation::add, sum, along(entry));
      equations_[row] = sum;
      arguments_.push_back(given[row]);
    }
    if (equations_ == given) return;
    derivatives_ = differentiate(tape_, equations_, 0, inputs());
    const linear::Matching matching =
        linear::maximum_matching(pattern_of_unknowns(), static_cast<int>(unknowns_.size()));
    if (matching.is_perfect()) return;
    equations_ = given;
    arguments_.resize(static_cast<std::size_t>(system_.m()));
    derivatives_ = differentiate(tape_, equations_, 0, inputs());
  }

  /// What an entry ∂g/∂t or ∂g/∂x_j adds to the rate of g.
  int along(const Derivative& entry) {
    if (entry.input == Dcs::time_input()) return entry.line;
    const int rate = entry.input - system_.variable_input(0) + system_.derivative_input(0);
    return applied(tape_, Operation::multiply, entry.line, tape_.input(rate));
  }

  /// The unknowns of each equation.
  [[nodiscard]] linear::Pattern pattern_of_unknowns() const {
    linear::Pattern pattern(equations_.size());
    for (const Derivative& entry : derivatives_)
      if (const int column = column_of_[static_cast<std::size_t>(entry.input)]; column >= 0)
        pattern[static_cast<std::size_t>(entry.output)].push_back(column);
    return pattern;
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
    const linear::Pattern pattern = pattern_of_unknowns();
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

  /// Where alternating paths lead to from the columns and the rows without partner.
  struct Reached {
    const linear::Matching& matching;
    std::vector<char> is_open, is_under, is_over;  // columns and rows behind the former, rows behind the latter

    Reached(std::size_t rows, const linear::Matching& matching_of_rows)
        : matching(matching_of_rows), is_open(matching.row_of_column.size(), 0), is_under(rows, 0), is_over(rows, 0) {
      for (std::size_t c = 0; c < is_open.size(); ++c) is_open[c] = matching.row_of_column[c] < 0;
      for (std::size_t r = 0; r < rows; ++r) is_over[r] = matching.column_of_row[r] < 0;
    }

    /// Follows an entry of the pattern in both directions. Does it lead on?
    bool follow(std::size_t row, std::size_t column) {
      bool grows = false;
      if (is_open[column] != 0 && is_under[row] == 0) {
        is_under[row] = 1;
        if (matching.column_of_row[row] >= 0)
          is_open[static_cast<std::size_t>(matching.column_of_row[row])] = 1;
        grows = true;
      }
      const int partner = matching.row_of_column[column];
      if (is_over[row] != 0 && partner >= 0 && is_over[static_cast<std::size_t>(partner)] == 0) {
        is_over[static_cast<std::size_t>(partner)] = 1;
        grows = true;
      }
      return grows;
    }
  };

  /// Rows that alternating paths lead to from a column or a row without partner: those of the
  /// underdetermined and of the overdetermined part.
  static std::vector<char> rows_without_solution(const linear::Pattern& pattern,
                                                 const linear::Matching& matching) {
    const auto rows = pattern.size();
    Reached reached(rows, matching);
    for (bool grows = true; grows;) {
      grows = false;
      for (std::size_t r = 0; r < rows; ++r)
        for (const int column : pattern[r])
          grows = reached.follow(r, static_cast<std::size_t>(column)) || grows;
    }
    std::vector<char> without(rows, 0);
    for (std::size_t r = 0; r < rows; ++r) without[r] = reached.is_over[r] != 0 || reached.is_under[r] != 0;
    return without;
  }

  /// The matrix of a block, as lines of the form; nothing: it depends on the unknowns.
  std::optional<LineMatrix> matrix_of(const Block& block, Substitution& substitution) const {
    const auto size = block.rows.size();
    std::vector<int> lines;  // entries that are not 0, row after row
    LineMatrix matrix(size, std::vector<int>(size, -1));
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j) {
        const int line = derivative(block.rows[i], block.unknowns[j]);
        if (line < 0) continue;
        if (depends(tape_, line, block.unknowns)) return std::nullopt;
        matrix[i][j] = static_cast<int>(lines.size());
        lines.push_back(line);
      }
    const std::vector<int> entries = substitution(lines);
    for (auto& row : matrix)
      for (int& entry : row)
        if (entry >= 0) entry = entries[static_cast<std::size_t>(entry)];
    return matrix;
  }

  /// v_j by Cramer's rule.
  static int quotient(Tape& tape, LineMatrix matrix, std::size_t j, const std::vector<int>& at_zero, int determinant) {
    for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i][j] = at_zero[i];
    const int numerator = perp::determinant(tape, matrix);
    const int negative = applied(tape, Operation::negate, numerator < 0 ? tape.constant(0) : numerator);
    return applied(tape, Operation::divide, negative, determinant);
  }

  /// Cramer's rule: v_i = −det(A with column i replaced by the rows at v = 0) / det A. False: the block
  /// is not affine, or too large.
  bool solve(const Block& block, Substitution& substitution, ExplicitForm& form) {
    const auto size = block.rows.size();
    if (size > largest_solved_block) return false;
    const std::optional<LineMatrix> matrix = matrix_of(block, substitution);
    if (!matrix) return false;
    const int determinant = perp::determinant(form.tape, *matrix);
    if (determinant < 0) return false;
    for (const int unknown : block.unknowns)
      substitution.replace(unknown, form.tape.constant(0));
    std::vector<int> lines;
    for (const int row : block.rows) lines.push_back(equations_[static_cast<std::size_t>(row)]);
    const std::vector<int> at_zero = substitution(lines);
    for (std::size_t j = 0; j < size; ++j)
      form.rows.push_back(quotient(form.tape, *matrix, j, at_zero, determinant));
    const auto first = form.rows.end() - static_cast<std::ptrdiff_t>(size);
    for (std::size_t j = 0; j < size; ++j)
      substitution.replace(block.unknowns[j], first[static_cast<std::ptrdiff_t>(j)]);
    return true;
  }

  /// Blocks of which one needs another are one group.
  void group(const std::vector<Block>& blocks, Substitution& substitution, ExplicitForm& form) {
    std::vector<std::vector<int>> lines;
    std::map<int, std::size_t> block_of_input;
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      std::vector<int> of_block;
      for (const int row : blocks[k].rows) of_block.push_back(equations_[static_cast<std::size_t>(row)]);
      lines.push_back(substitution(of_block));
      for (const int unknown : blocks[k].unknowns) block_of_input[unknown] = k;
    }
    linear::Pattern together(blocks.size());
    for (std::size_t k = 0; k < blocks.size(); ++k)
      for (const int input : inputs_of(form.tape, lines[k]))
        if (const auto other = block_of_input.find(input); other != block_of_input.end()) {
          together[k].push_back(static_cast<int>(other->second));
          together[other->second].push_back(static_cast<int>(k));
        }
    const linear::Components groups = linear::strong_components(together);
    form.implicit.resize(static_cast<std::size_t>(groups.count));
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      ExplicitForm::Implicit& group = form.implicit[static_cast<std::size_t>(groups.of_node[k])];
      group.equations.insert(group.equations.end(), lines[k].begin(), lines[k].end());
      group.unknowns.insert(group.unknowns.end(), blocks[k].unknowns.begin(), blocks[k].unknowns.end());
    }
  }

  const Dcs& system_;
  Tape tape_;
  std::vector<int> equations_, arguments_, conditions_, unknowns_;
  std::vector<int> column_of_;  // of each input among the unknowns; -1: none
  std::vector<Derivative> derivatives_;
};

/// Do the formulas divide by anything, or hold an angle?
bool may_be_singular(Tape& tape, const std::vector<int>& rows) {
  return !divisors_of(tape, rows).empty() || !cuts_of(tape, rows).empty();
}

/// F, G and the conditions of resets.
std::vector<int> lines_of(const Dcs& system) {
  std::vector<int> lines = system.F;
  lines.insert(lines.end(), system.G.begin(), system.G.end());
  for (const Reset& reset : system.resets) lines.push_back(reset.condition);
  return lines;
}

/// The system with numbers in the place of its parameters.
Dcs with_numbers(const Dcs& system) {
  Dcs bound;
  std::vector<int> lines = lines_of(system);
  bound.tape = bind_inputs(system.tape, system.parameter_input(0), system.parameters, lines);
  const auto end_of_F = lines.begin() + system.n(), end_of_G = end_of_F + system.m();
  bound.F.assign(lines.begin(), end_of_F);
  bound.G.assign(end_of_F, end_of_G);
  for (auto condition = end_of_G; condition != lines.end(); ++condition)
    bound.resets.push_back({"", *condition, 0, {}, {}});
  bound.laws = system.laws;
  return bound;
}

}  // namespace

ExplicitForms::ExplicitForms(const Dcs& system)
    : system_(with_numbers(system)), differential_(static_cast<std::size_t>(system.n()), 0) {
  Tape tape = system_.tape;
  std::vector<int> lines = lines_of(system_);
  may_divide_ = may_be_singular(tape, lines);
  lines.resize(lines.size() - system.resets.size());  // conditions have no unknowns of their own
  const std::vector<Derivative> derivatives =
      differentiate(tape, lines, 0, system_.parameter_input(0));
  for (const Derivative& entry : derivatives)
    if (entry.input >= system_.derivative_input(0) && entry.input < system_.variable_input(0))
      differential_[static_cast<std::size_t>(entry.input - system_.derivative_input(0))] = 1;
  may_divide_ = may_divide_ || may_divide_by(derivatives, tape, lines.size());
}

/// Is this input an unknown of some mode?
bool ExplicitForms::may_be_unknown(int input) const {
  if (input >= system_.multiplier_input(0)) {
    const Law& law = system_.laws[static_cast<std::size_t>(input - system_.multiplier_input(0))];
    return std::any_of(law.branches.begin(), law.branches.end(),
                       [](const Branch& branch) { return branch.a != 0; });
  }
  const int j = input - system_.variable_input(0);
  return input > 0 && (j < 0 || differential_[static_cast<std::size_t>(j)] == 0);
}

/// May one of the derivatives of these rows that unknowns are solved by be no number?
bool ExplicitForms::may_divide_by(const std::vector<Derivative>& derivatives, const Tape& tape,
                                  std::size_t rows) const {
  // Of a row without unknowns the rate divides too; one of a law has unknowns in some modes only.
  std::vector<char> has_unknown(rows, 0);
  for (const Derivative& entry : derivatives)
    if (may_be_unknown(entry.input)) has_unknown[static_cast<std::size_t>(entry.output)] = 1;
  return std::ranges::any_of(derivatives, [&](const Derivative& entry) {
    return tape[entry.line].operation != Operation::constant &&
           (may_be_unknown(entry.input) || has_unknown[static_cast<std::size_t>(entry.output)] == 0);
  });
}

ExplicitForm ExplicitForms::form(const Mode& mode) const {
  return ModeEquations(system_, differential_, mode).solved();
}

}  // namespace perp

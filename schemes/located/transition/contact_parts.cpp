#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numeric>

#include <perp/core/base/index.hpp>
#include <perp/core/branches.hpp>
#include <perp/core/expression/dependent_lines.hpp>
#include <perp/core/expression/differentiate.hpp>
#include <perp/schemes/located/transition/contact_parts.hpp>
#include <perp/schemes/mechanical/mechanical_system.hpp>

namespace perp {
namespace {

/// Sets of numbers that are joined.
class Sets {
 public:
  explicit Sets(int count) : parent_(at(count)) { std::iota(parent_.begin(), parent_.end(), 0); }
  int root(int i) {
    while (parent_[at(i)] != i) i = parent_[at(i)] = parent_[at(parent_[at(i)])];
    return i;
  }
  void join(int a, int b) { parent_[at(root(a))] = root(b); }

 private:
  std::vector<int> parent_;
};

/// Which lines depend on the multipliers of these laws?
std::vector<char> depends_on(const Dcs& system, const Tape& tape, const std::vector<char>& laws) {
  return dependent_lines(tape, [&](int input) {
    const int i = input - system.multiplier_input(0);
    return i >= 0 && i < system.m() && laws[at(i)] != 0;
  });
}

/// The structure of a Dcs: which equation and law holds what.
class Partition {
 public:
  explicit Partition(const Dcs& system);
  std::vector<ContactPart> parts();

 private:
  ContactPart part(int root);
  void find_kinds();
  [[nodiscard]] std::vector<std::vector<int>> rows_of_algebraic() const;
  void leave_out_outputs();
  [[nodiscard]] bool counts(const Derivative& d) const;
  [[nodiscard]] bool is_force(const Derivative& d) const;
  void join_inputs(int row, int line);
  [[nodiscard]] std::vector<int> members(int root, int first, int count);
  [[nodiscard]] bool holds_foreign_multiplier(int root);
  [[nodiscard]] int variable(int j) const { return j; }
  [[nodiscard]] int equation(int r) const { return system_.n() + r; }
  [[nodiscard]] int law(int i) const { return 2 * system_.n() + i; }
  /// The equation or law whose row a derivative stands in.
  [[nodiscard]] int row(const Derivative& d) const {
    return d.output < system_.n() ? equation(d.output) : law(d.output - system_.n());
  }
  /// The variable or law behind an input, -1: time, a parameter or a bounded multiplier.
  [[nodiscard]] int node(int input) const;
  [[nodiscard]] std::vector<int> places(const ContactPart& part) const;
  void rebuild(ContactPart& part, const std::vector<int>& equations) const;

  const Dcs& system_;
  Tape tape_;  // with the derivatives
  std::vector<char> bounded_;
  std::vector<Derivative> derivatives_;  // of F, then G
  std::vector<char> by_bounded_;         // lines that hold bounded multipliers
  std::vector<char> has_impulse_;        // equations that hold an unbounded multiplier
  std::vector<char> is_differential_;    // variables
  std::vector<char> is_output_;          // rows that only give an output
  Sets sets_;
};

/// A row with impulses is bound to what has a derivative or an impulse in it, and to what these
/// entries depend on: a force that depends on a differential variable does not jump with it.
Partition::Partition(const Dcs& system)
    : system_(system), tape_(system.tape), sets_(2 * system.n() + system.m()) {
  for (const Law& law : system.laws) bounded_.push_back(is_bounded(law) ? 1 : 0);
  std::vector<int> lines = system.F;
  lines.insert(lines.end(), system.G.begin(), system.G.end());
  derivatives_ = differentiate(tape_, lines, 0, system.parameter_input(0));
  by_bounded_ = depends_on(system, tape_, bounded_);
  find_kinds();
  leave_out_outputs();
  for (const Derivative& d : derivatives_) {
    if (!counts(d) || is_force(d) || node(d.input) < 0) continue;
    sets_.join(row(d), node(d.input));
    join_inputs(row(d), d.line);
  }
}

/// Which equations have impulses, and which variables have a derivative?
void Partition::find_kinds() {
  const int n = system_.n();
  has_impulse_.assign(at(n), 0);
  is_differential_.assign(at(n), 0);
  for (const Derivative& d : derivatives_) {
    const int i = d.input - system_.multiplier_input(0), j = d.input - system_.derivative_input(0);
    if (d.output < n && i >= 0 && bounded_[at(i)] == 0) has_impulse_[at(d.output)] = 1;
    if (j >= 0 && j < n) is_differential_[at(j)] = 1;
  }
}

/// Does it stand in a row that is neither that of an output nor that of a bounded law?
bool Partition::counts(const Derivative& d) const {
  const int i = d.output - system_.n();
  return i >= 0 ? bounded_[at(i)] == 0 : is_output_[at(d.output)] == 0;
}

/// Is it a force by a differential variable, in an equation with impulses?
bool Partition::is_force(const Derivative& d) const {
  const int n = system_.n(), j = d.input - system_.variable_input(0);
  return d.output < n && has_impulse_[at(d.output)] != 0 && j >= 0 && j < n && is_differential_[at(j)] != 0;
}

/// By algebraic variable the rows that hold it, without those of outputs and of bounded laws.
std::vector<std::vector<int>> Partition::rows_of_algebraic() const {
  const int n = system_.n();
  std::vector<std::vector<int>> rows(at(n));
  for (const Derivative& d : derivatives_) {
    const int j = d.input - system_.variable_input(0);
    if (counts(d) && j >= 0 && j < n && is_differential_[at(j)] == 0) rows[at(j)].push_back(d.output);
  }
  return rows;
}

/// An algebraic variable that only one row holds is given by it, whatever else stands there: the row
/// demands nothing of the other variables. Without it others may be given so in turn.
void Partition::leave_out_outputs() {
  is_output_.assign(at(system_.n()), 0);
  for (bool is_new = true; is_new;) {
    is_new = false;
    for (const std::vector<int>& rows : rows_of_algebraic()) {
      if (rows.size() != 1 || rows.front() >= system_.n() || is_output_[at(rows.front())] != 0) continue;
      is_output_[at(rows.front())] = 1;
      is_new = true;
    }
  }
}

/// Joins a row with the variables and unbounded multipliers that a line depends on.
void Partition::join_inputs(int row, int line) {
  std::vector<int> open{line};
  std::vector<char> seen(at(tape_.size()), 0);
  while (!open.empty()) {
    const Instruction what = tape_[open.back()];
    open.pop_back();
    if (what.operation == Operation::input) {
      if (node(what.a) >= 0) sets_.join(row, node(what.a));
      continue;
    }
    if (what.operation == Operation::constant) continue;
    for (const int operand : {what.a, what.b}) {
      if (operand < 0 || seen[at(operand)] != 0) continue;
      seen[at(operand)] = 1;
      open.push_back(operand);
    }
  }
}

int Partition::node(int input) const {
  if (input == Dcs::time_input()) return -1;
  if (input < system_.variable_input(0)) return variable(input - system_.derivative_input(0));
  if (input < system_.multiplier_input(0)) return variable(input - system_.variable_input(0));
  const int i = input - system_.multiplier_input(0);
  return i < system_.m() && bounded_[at(i)] == 0 ? law(i) : -1;
}

std::vector<ContactPart> Partition::parts() {
  std::vector<ContactPart> parts;
  std::vector<int> roots;
  for (int i = 0; i < system_.m(); ++i) {
    const int root = sets_.root(law(i));
    if (!is_contact(system_.laws[at(i)]) ||
        std::find(roots.begin(), roots.end(), root) != roots.end())
      continue;
    roots.push_back(root);
    parts.push_back(part(root));
  }
  return parts;
}

/// Which of `count` nodes, from node `first` on, are in the set of `root`?
std::vector<int> Partition::members(int root, int first, int count) {
  std::vector<int> found;
  for (int k = 0; k < count; ++k)
    if (sets_.root(first + k) == root) found.push_back(k);
  return found;
}

/// Impulses are found from ∂F/∂ẋ, ∂F/∂λ and the gaps: do these hold other multipliers?
bool Partition::holds_foreign_multiplier(int root) {
  return std::any_of(derivatives_.begin(), derivatives_.end(), [&](const Derivative& d) {
    if (sets_.root(row(d)) != root || node(d.input) < 0 || by_bounded_[at(d.line)] == 0) return false;
    return d.output >= system_.n() || d.input < system_.variable_input(0) ||
           d.input >= system_.multiplier_input(0);
  });
}

ContactPart Partition::part(int root) {
  ContactPart part;
  part.variables = members(root, variable(0), system_.n());
  part.laws = members(root, law(0), system_.m());
  const std::vector<int> equations = members(root, equation(0), system_.n());
  if (part.variables.size() != equations.size())
    part.objection = "its equations and variables differ in number";
  if (holds_foreign_multiplier(root))
    part.objection = "the multiplier of another law multiplies its force or its masses";
  if (part.objection.empty()) rebuild(part, equations);
  return part;
}

/// By the inputs of the whole system those of the part's, whose numbers of equations and laws are known; -1: not in it.
std::vector<int> Partition::places(const ContactPart& part) const {
  const Dcs& small = part.system;
  std::vector<int> place(at(system_.parameter_input(static_cast<int>(small.parameters.size()))), -1);
  place[0] = Dcs::time_input();
  for (int k = 0; k < static_cast<int>(part.variables.size()); ++k) {
    place[at(system_.derivative_input(part.variables[at(k)]))] = small.derivative_input(k);
    place[at(system_.variable_input(part.variables[at(k)]))] = small.variable_input(k);
  }
  for (int k = 0; k < static_cast<int>(part.laws.size()); ++k)
    place[at(system_.multiplier_input(part.laws[at(k)]))] = small.multiplier_input(k);
  for (int k = 0; k < static_cast<int>(small.parameters.size()); ++k)
    place[at(system_.parameter_input(k))] = small.parameter_input(k);
  return place;
}

/// Writes a line to another tape, with its operands `renamed` and its input at its place; 0 for an input without one.
int copy_line(const Instruction& line, const std::vector<int>& place, const std::vector<int>& renamed, Tape& tape) {
  const auto operand = [&](int old) { return old < 0 ? -1 : renamed[at(old)]; };
  if (line.operation == Operation::constant) return tape.constant(line.value);
  if (line.operation != Operation::input) return tape.apply(line.operation, operand(line.a), operand(line.b));
  return place[at(line.a)] < 0 ? tape.constant(0) : tape.input(place[at(line.a)]);
}

/// Writes the system of the part on a tape of its own.
void Partition::rebuild(ContactPart& part, const std::vector<int>& equations) const {
  Dcs& small = part.system;
  small.parameters = system_.parameters;
  small.F.resize(equations.size());
  for (const int i : part.laws) small.laws.push_back(system_.laws[at(i)]);
  const std::vector<int> place = places(part);
  std::vector<int> renamed;
  for (int k = 0; k < system_.tape.size(); ++k)
    renamed.push_back(copy_line(system_.tape[k], place, renamed, small.tape));
  for (std::size_t k = 0; k < equations.size(); ++k)
    small.F[k] = renamed[at(system_.F[at(equations[k])])];
  for (const int i : part.laws) small.G.push_back(renamed[at(system_.G[at(i)])]);
}

}  // namespace

std::vector<ContactPart> contact_parts(const Dcs& system) { return Partition(system).parts(); }

}  // namespace perp

// Constraints of a mode, and unknowns that no equation gives by itself; called where modes become differential equations.
#include <algorithm>
#include <cmath>
#include <set>

#include <perp/analysis/enclosure/modes/mode_solver.hpp>
#include <perp/core/linear/structure.hpp>

namespace perp::enclosure {

/// e_t + Σ e_x x' + Σ e_z z'
int ModeSolver::total_derivative(int line) {
  int sum = lines_.derivative(line, Dcs::time_input());
  for (std::size_t i = 0; i < implicit_rates_.size(); ++i)
    if (lines_.depends(line, implicit_[i]))
      sum = lines_.add(sum, lines_.multiply(lines_.derivative(line, implicit_[i]), implicit_rates_[i]));
  for (const int input : lines_.inputs_of(line)) {
    if (!is_state(input)) continue;
    const int rate = system_.derivative_input(input - system_.variable_input(0));
    const auto known = solved_.find(rate);
    const int value = known == solved_.end() ? tape_.input(rate) : known->second;
    sum = lines_.add(sum, lines_.multiply(lines_.derivative(line, input), value));
  }
  return sum;
}

/// α x_j + β = 0 among states:  x_j = e = −β/α,  x_j' = de/dt. Where x_j' is known already, that is
/// an equation.
void ModeSolver::constrain(const Choice& choice) {
  Equation& equation = equations_[static_cast<std::size_t>(choice.equation)];
  constraints_.push_back({equation.equation, equation.law, equation.line});
  int rest = equation.line;
  lines_.substitute(std::span(&rest, 1), {{choice.input, lines_.number(0)}});
  const int e = lines_.divide(lines_.negate(rest), choice.coefficient);
  replace({{choice.input, e}});
  const int slope = total_derivative(e);
  const int rate = system_.derivative_input(choice.input - system_.variable_input(0));
  equation.is_open = false;
  if (const auto known = solved_.find(rate); known != solved_.end()) {
    equation = {.line = lines_.subtract(known->second, slope)};
  } else {
    replace({{rate, slope}});
    solved_[rate] = slope;
  }
  solved_[choice.input] = e;
}

/// g(t, x) = 0 that is solved for no state by a constant coefficient: all states stay, and along a
/// solution of g' = 0 that begins on the surface g stays 0. False: there is no derivative, or no end: of
/// constraints that do not follow from each other there are no more than states, and formulas of
/// derivatives grow with each order.
bool ModeSolver::hold(int k) {
  constexpr int most_lines = 100'000;
  Equation& equation = equations_[static_cast<std::size_t>(k)];
  if (lines_.is_number(equation.line) || holds_open(equation.line) ||
      constraints_.size() >= space_.variables.size() || tape_.size() > most_lines)
    return false;
  constraints_.push_back({equation.equation, equation.law, equation.line});
  invariants_.push_back(equation.line);
  equation = {.line = total_derivative(equation.line)};
  return true;
}

namespace {

/// The rows that one of them needs: those whose unknowns its own are, and so on; none: some unknown is
/// nobody's.
std::vector<int> closure(int first, const linear::Pattern& pattern,
                         const linear::Matching& matching) {
  std::vector<int> block{first};
  for (std::size_t k = 0; k < block.size(); ++k)
    for (const int column : pattern[static_cast<std::size_t>(block[k])]) {
      const int row = matching.row_of_column[static_cast<std::size_t>(column)];
      if (row < 0) return {};
      if (std::find(block.begin(), block.end(), row) == block.end()) block.push_back(row);
    }
  return matching.column_of_row[static_cast<std::size_t>(first)] < 0 ? std::vector<int>() : block;
}

}  // namespace

/// The open equations that hold as many unknowns as they are, each of its own, the fewest of them.
std::vector<int> ModeSolver::smallest_block() {
  std::vector<int> rows;
  std::map<int, int> columns;  // of inputs
  linear::Pattern pattern;
  for (int k = 0; k < static_cast<int>(equations_.size()); ++k) {
    if (!equations_[static_cast<std::size_t>(k)].is_open) continue;
    rows.push_back(k);
    pattern.emplace_back();
    for (const int input : unknowns_of(equations_[static_cast<std::size_t>(k)].line))
      pattern.back().push_back(
          columns.try_emplace(input, static_cast<int>(columns.size())).first->second);
  }
  const linear::Matching matching =
      linear::maximum_matching(pattern, static_cast<int>(columns.size()));
  std::vector<int> smallest;
  for (int first = 0; first < static_cast<int>(rows.size()); ++first) {
    const std::vector<int> block = closure(first, pattern, matching);
    const bool is_smaller = smallest.empty() || block.size() < smallest.size();
    if (!block.empty() && is_smaller) smallest = block;
  }
  for (int& row : smallest) row = rows[static_cast<std::size_t>(row)];
  std::sort(smallest.begin(), smallest.end());
  return smallest;
}

/// False: no equations are as many as their unknowns, or the matrix of their rates is singular.
bool ModeSolver::make_implicit() {
  const std::vector<int> block = smallest_block();
  if (block.empty()) return false;
  shift_back();
  std::set<int> found;
  for (const int k : block) {
    Equation& equation = equations_[static_cast<std::size_t>(k)];
    for (const int input : unknowns_of(equation.line)) found.insert(input);
    implicit_equations_.push_back(equation.line);
    equation.is_open = false;
  }
  implicit_.insert(implicit_.end(), found.begin(), found.end());
  return find_rates();
}

/// The row whose entry of column k is largest near the set; −1: all are 0 by their form.
int ModeSolver::pivot_row(const std::vector<std::vector<int>>& rows, std::size_t k) const {
  std::vector<double> values(static_cast<std::size_t>(tape_.size()));
  tape_.evaluate(std::span<const double>(near_), std::span<double>(values));
  int pivot = -1;
  double largest = -1;
  for (std::size_t i = k; i < rows.size(); ++i) {
    const int line = rows[i][k];
    const double value = std::abs(values[static_cast<std::size_t>(line)]);
    const double size = std::isfinite(value) ? value : 0;
    if (lines_.is_number(line, 0) || !(size > largest)) continue;
    largest = size;
    pivot = static_cast<int>(i);
  }
  return pivot;
}

/// z' from rows that are a triangle, with the right-hand sides behind it.
void ModeSolver::back_substitute(const std::vector<std::vector<int>>& rows) {
  const std::size_t n = rows.size();
  implicit_rates_.assign(n, -1);
  for (std::size_t k = n; k-- > 0;) {
    int sum = rows[k][n];
    for (std::size_t j = k + 1; j < n; ++j)
      sum = lines_.subtract(sum, lines_.multiply(rows[k][j], implicit_rates_[j]));
    implicit_rates_[k] = lines_.divide(sum, rows[k][k]);
  }
}

/// z' from ∂h/∂z z' = −(h_t + h_x x'), by elimination.
bool ModeSolver::find_rates() {
  const std::size_t n = implicit_.size();
  implicit_rates_.clear();
  std::vector<std::vector<int>> a(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (const int input : implicit_)
      a[i].push_back(lines_.derivative(implicit_equations_[i], input));
    a[i].push_back(lines_.negate(total_derivative(implicit_equations_[i])));
  }
  for (std::size_t k = 0; k < n; ++k) {
    const int pivot = pivot_row(a, k);
    if (pivot < 0) return false;
    std::swap(a[k], a[static_cast<std::size_t>(pivot)]);
    for (std::size_t i = k + 1; i < n; ++i) {
      if (lines_.is_number(a[i][k], 0)) continue;
      const int factor = lines_.divide(a[i][k], a[k][k]);
      for (std::size_t j = k + 1; j <= n; ++j)
        a[i][j] = lines_.subtract(a[i][j], lines_.multiply(factor, a[k][j]));
    }
  }
  back_substitute(a);
  return true;
}

/// The equation of the system that became this one for implicit unknowns; −1: it is none of its own.
int ModeSolver::source_of(int implicit_equation) const {
  const auto source = std::ranges::find_if(equations_, [&](const Equation& one) {
    return !one.is_open && one.line == implicit_equation;
  });
  return source == equations_.end() ? -1 : source->equation;
}

/// The equations of the system from which the implicit unknowns follow, with all unknowns that stand in
/// these; none where some of them is given otherwise, or by multipliers.
std::vector<int> ModeSolver::sources_of_implicit() {
  std::set<int> sources;
  std::vector<int> waiting;
  for (const int line : implicit_equations_) waiting.push_back(source_of(line));
  while (!waiting.empty()) {
    const int source = waiting.back();
    waiting.pop_back();
    if (source < 0) return {};
    if (!sources.insert(source).second) continue;
    const int line = system_.F[static_cast<std::size_t>(source)];
    for (const int input : perp::enclosure::unknowns_of(system_, space_, line)) {
      if (is_implicit(input)) continue;
      const auto known = solved_by_.find(input);
      waiting.push_back(known == solved_by_.end() ? -1 : known->second);
    }
  }
  return {sources.begin(), sources.end()};
}

}  // namespace perp::enclosure

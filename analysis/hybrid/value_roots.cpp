// Sub-problems of a value search whose unknowns multiply each other: each of their roots is a way on.
#include <algorithm>
#include <cmath>

#include <perp/analysis/hybrid/roots/block_roots.hpp>
#include <perp/analysis/hybrid/value_search.hpp>
#include <perp/core/base/index.hpp>
#include <perp/core/expression/differentiate.hpp>
#include <perp/core/linear/lu.hpp>

namespace perp {

/// Is an equation not affine in these together?
bool ValueSearch::may_have_several_roots(int row, const std::vector<int>& inputs) const {
  const int degree = degree_in(tape_, rows_[at(row)], inputs);
  return degree < 0 || degree > 1;
}

/// Equations that are not affine in all open unknowns together may have several solutions.
void ValueSearch::read_roots(const SubProblem& given, Block& block) {
  const int equations = static_cast<int>(model_.f.size());
  std::vector<int> inputs, rows;
  for (const int unknown : block.open) inputs.push_back(input_of(unknown));
  for (const int row : given.rows)
    if (row < equations && !inputs.empty()) rows.push_back(row);
  if (std::none_of(rows.begin(), rows.end(), [&](int row) { return may_have_several_roots(row, inputs); })) return;
  block.many = rows;
  for (const int row : rows)
    for (const int input : inputs) block.many_slopes.push_back(slope_line(rows_[at(row)], input));
}

/// The line of a derivative, -1: it is 0 by its form.
int ValueSearch::slope_line(int line, int input) {
  const std::vector<int> outputs{line};
  const std::vector<Derivative> slopes = differentiate(tape_, outputs, input, input + 1);
  return slopes.empty() ? -1 : slopes.front().line;
}

void ValueSearch::put_root(int block, const Root& root) {
  const std::vector<int>& open = blocks_[at(block)].open;
  for (std::size_t k = 0; k < open.size(); ++k) inputs_[at(input_of(open[k]))] = root.values[k];
}

/// The distance of a solution from a point near it is at most 2 |J^-1| |F|, with F by its bounds.
ValueSearch::Root ValueSearch::bounded_root(int block, const std::vector<double>& values) {
  const Block& here = blocks_[at(block)];
  const auto count = static_cast<Eigen::Index>(values.size());
  Root root;
  for (const double value : values) root.values.emplace_back(value);
  put_root(block, root);
  Vector rest(count);
  Matrix slopes = Matrix::Zero(count, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const Number value = evaluate(rows_[at(here.many[static_cast<std::size_t>(i)])]);
    rest[i] = std::abs(value.value) + value.error;
    for (Eigen::Index j = 0; j < count; ++j)
      if (const int line = here.many_slopes[static_cast<std::size_t>(i * count + j)]; line >= 0)
        slopes(i, j) = evaluate(line).value;
  }
  const Matrix identity = Matrix::Identity(count, count);
  const Vector error = 2 * linear::Lu(slopes).solve(identity).cwiseAbs() * rest;
  for (Eigen::Index j = 0; j < count; ++j) {
    Number& value = root.values[static_cast<std::size_t>(j)];
    value.error = std::isfinite(error[j]) ? error[j] : std::abs(value.value);
    const int unknown = here.open[static_cast<std::size_t>(j)];
    if (structure_.is_state[at(unknown)]) continue;
    const Number step = (value - Number(x_given_[unknown])) /
                        Number(model_.head.variables[at(unknown)].nominal);
    root.distance = root.distance + step * step;
  }
  return root;
}

/// Nearest to the given variables first.
std::vector<ValueSearch::Root> ValueSearch::roots_of(int block, bool& is_complete) {
  const Block& here = blocks_[at(block)];
  std::vector<Number> inputs = inputs_;
  inputs[0].error = 0;  // what is asked for is the problem of the numbers that are given
  for (int j = 0; j < model_.n(); ++j)
    if (structure_.is_state[at(j)]) inputs[at(model_.variable_input(j))].error = 0;
  std::vector<int> rows, unknowns;
  for (const int row : here.many) rows.push_back(rows_[at(row)]);
  for (const int unknown : here.open) unknowns.push_back(input_of(unknown));
  const BlockRoots found = block_roots(tape_, rows, unknowns, inputs);
  is_complete = found.is_complete;
  may_have_other_roots_ = may_have_other_roots_ || !is_complete;
  std::vector<Root> roots;
  for (const std::vector<double>& values : found.list) roots.push_back(bounded_root(block, values));
  std::stable_sort(roots.begin(), roots.end(),
                   [](const Root& a, const Root& b) { return a.distance.value < b.distance.value; });
  for (Root& root : roots)
    root.rank = static_cast<int>(std::count_if(roots.begin(), roots.end(), [&](const Root& other) {
      return decided_sign(root.distance - other.distance) > 0;
    }));
  return roots;
}

/// Puts the nearest root; the equations exclude what has none.
void ValueSearch::put_nearest_root(int block, std::vector<int>& excluding) {
  const std::vector<int>& many = blocks_[at(block)].many;
  if (many.empty()) return;
  bool is_complete = false;
  const std::vector<Root> roots = roots_of(block, is_complete);
  if (!roots.empty())
    put_root(block, roots.front());
  else if (is_complete)
    excluding.insert(excluding.end(), many.begin(), many.end());
}

/// Goes on from each root of the sub-problem.
void ValueSearch::visit_roots(int block) {
  if (blocks_[at(block)].many.empty()) return visit(block + 1);
  bool is_complete = false;
  const std::vector<Root> roots = roots_of(block, is_complete);
  if (roots.empty()) {
    if (is_complete) return exclude(block, blocks_[at(block)].many.front(), "has no solution");
    return visit(block + 1);
  }
  for (const Root& root : roots) {
    if (ended_) return;
    put_root(block, root);
    if (!check_rows(block)) continue;
    root_ += root.rank;
    visit(block + 1);
    root_ -= root.rank;
  }
}

}  // namespace perp

#include <fmt/format.h>

#include <perp/core/base/error.hpp>
#include <perp/lcp/enumeration/enumerate.hpp>
#include <perp/lcp/structure/balanced_blocks.hpp>

namespace perp {
namespace {

using linear::DisjointSets;

/// Joins all columns with an entry in this row of the coupling.
void join_coupled(DisjointSets& components, const Matrix& coupling, int row) {
  int first = -1;
  for (int j = 0; j < coupling.cols(); ++j)
    if (coupling(row, j) != 0) {
      if (first < 0) first = j;
      components.join(first, j);
    }
}

/// Nodes: unknowns (u, λ), then the equations; w_i is no node of its own but that of λ_i.
DisjointSets connect(const Mlcp& problem, const Matrix& coupling) {
  const int p = problem.p(), m = problem.m(), n = p + m;
  DisjointSets components(n + p);
  const auto join_row = [&](int node, const auto& left, const auto& right, int i) {
    for (int j = 0; j < p; ++j)
      if (left(i, j) != 0) components.join(node, j);
    for (int j = 0; j < m; ++j)
      if (right(i, j) != 0) components.join(node, p + j);
  };
  for (int i = 0; i < p; ++i) join_row(n + i, problem.M11, problem.M12, i);
  for (int i = 0; i < m; ++i) join_row(p + i, problem.M21, problem.M22, i);
  for (int r = 0; r < coupling.rows(); ++r) join_coupled(components, coupling, r);
  return components;
}

/// A part with more or fewer equations than u is no problem by itself: all such parts go together.
void join_unbalanced(DisjointSets& components, int p, int m) {
  const int n = p + m;
  std::vector<int> excess(static_cast<std::size_t>(n + p), 0);
  for (int j = 0; j < p; ++j) --excess[static_cast<std::size_t>(components.root(j))];
  for (int i = 0; i < p; ++i) ++excess[static_cast<std::size_t>(components.root(n + i))];
  int odd = -1;
  for (int node = 0; node < n + p; ++node)
    if (excess[static_cast<std::size_t>(node)] != 0) {
      if (odd >= 0) components.join(odd, node);
      odd = node;
    }
}

}  // namespace

std::vector<Block> independent_blocks(const Mlcp& problem, const Matrix& coupling) {
  const int p = problem.p(), m = problem.m(), n = p + m;
  if (coupling.rows() > 0 && coupling.cols() != n)
    throw InvalidInput(fmt::format("coupling must have {} columns but has {}", n, coupling.cols()));
  return balanced_blocks(connect(problem, coupling), p, m);
}

std::vector<Block> balanced_blocks(DisjointSets components, int p, int m) {
  const int n = p + m;
  join_unbalanced(components, p, m);
  std::vector<Block> blocks;
  std::vector<int> number(static_cast<std::size_t>(n + p), -1);
  const auto block_of = [&](int node) -> Block& {
    int& index = number[static_cast<std::size_t>(components.root(node))];
    if (index < 0) {
      index = static_cast<int>(blocks.size());
      blocks.emplace_back();
    }
    return blocks[static_cast<std::size_t>(index)];
  };
  for (int j = 0; j < p; ++j) block_of(j).u.push_back(j);
  for (int j = 0; j < m; ++j) block_of(p + j).lambda.push_back(j);
  for (int i = 0; i < p; ++i) block_of(n + i).equations.push_back(i);
  return blocks;
}

void join_functions_of_time(DisjointSets& components, int p, int m) {
  for (int node = p; node < 2 * p + m; ++node)
    if (components.root(node) >= p) components.join(node, 0);
}

Mlcp subproblem(const Mlcp& problem, const Block& block) {
  Mlcp part{
      .M11 = problem.M11(block.equations, block.u),
      .M12 = problem.M12(block.equations, block.lambda),
      .q1 = problem.q1(block.equations),
      .M21 = problem.M21(block.lambda, block.u),
      .M22 = problem.M22(block.lambda, block.lambda),
      .q2 = problem.q2(block.lambda),
      .laws = {},
  };
  for (const int i : block.lambda) part.laws.push_back(problem.laws[static_cast<std::size_t>(i)]);
  return part;
}

}  // namespace perp

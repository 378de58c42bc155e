#include <algorithm>

#include <perp/core/base/index.hpp>
#include <perp/core/linear/sparse/block_lu.hpp>
#include <perp/core/linear/structure.hpp>

namespace perp {

/// Rows and columns of the blocks. False: no permutation has entries on its whole diagonal.
bool BlockLu::order() {
  const auto n = static_cast<std::size_t>(n_);
  linear::Pattern pattern(n);
  for (int i = 0; i < n_; ++i)
    for (int j = 0; j < n_; ++j)
      if (entry(i, j) != 0) pattern[static_cast<std::size_t>(i)].push_back(j);
  const linear::Matching matching = linear::maximum_matching(pattern, n_);
  if (!matching.is_perfect()) return false;
  // A row needs the rows whose unknowns it holds.
  for (std::vector<int>& row : pattern)
    for (int& j : row) j = matching.row_of_column[static_cast<std::size_t>(j)];
  const linear::Components components = linear::strong_components(pattern);
  blocks_.clear();
  blocks_.resize(static_cast<std::size_t>(components.count));
  for (std::size_t i = 0; i < n; ++i) {
    Block& block = blocks_[static_cast<std::size_t>(components.of_node[i])];
    block.rows.push_back(static_cast<int>(i));
    block.columns.push_back(matching.column_of_row[i]);
  }
  return true;
}

bool BlockLu::factorise(const double* A, int n, const int* units) {
  n_ = n;
  A_.assign(A, A + static_cast<std::ptrdiff_t>(n) * n);
  if (!order()) return false;
  for (Block& block : blocks_) {
    const auto size = static_cast<int>(block.rows.size());
    std::vector<double> own;
    std::vector<int> own_units;
    for (const int i : block.rows)
      for (const int j : block.columns) own.push_back(entry(i, j));
    for (const int j : block.columns) own_units.push_back(units == nullptr ? 0 : units[j]);
    block.factors = DenseLu(size);
    if (!block.factors.factorise(own.data(), size, own_units.data())) return false;
  }
  return true;
}

void BlockLu::solve(double* x) const {
  std::vector<double> solution(static_cast<std::size_t>(n_)), right;
  for (const Block& block : blocks_) {
    right.clear();
    for (const int i : block.rows) {
      double sum = x[i];
      // The unknowns of this block and of those behind it are still 0.
      for (int j = 0; j < n_; ++j)
        if (entry(i, j) != 0) sum -= entry(i, j) * solution[static_cast<std::size_t>(j)];
      right.push_back(sum);
    }
    block.factors.solve(right.data());
    for (std::size_t k = 0; k < block.columns.size(); ++k)
      solution[static_cast<std::size_t>(block.columns[k])] = right[k];
  }
  std::copy(solution.begin(), solution.end(), x);
}

}  // namespace perp

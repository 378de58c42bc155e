#include <algorithm>
#include <utility>

#include <perp/core/base/index.hpp>
#include <perp/core/linear/disjoint_sets.hpp>
#include <perp/core/linear/sparse/bounded_lu.hpp>
#include <perp/core/linear/sparse/lu_sizes.hpp>

namespace perp::linear {
BoundedLu::BoundedLu(RowPattern pattern)
    : pattern_(std::move(pattern)), lu_(pattern_.size(), places_of(pattern_), inf), values_(pattern_.column.size()), work_(pattern_.size()) {
  part_.resize(at(size()));
}

void BoundedLu::clear() { std::fill(values_.begin(), values_.end(), 0.0); }

void BoundedLu::add(int i, int j, double value) { values_[at(pattern_.place(i, j))] += value; }

bool BoundedLu::factorise() { return lu_.factorise(values_) && find_all(); }

bool BoundedLu::factorise_anew() { return lu_.factorise_anew(values_) && find_all(); }

bool BoundedLu::find_all() {
  lu_.write_parts(factors_);
  count_terms();
  find_parts();
  return true;
}

/// An entry of L U is a sum over a column of U, one of a solution over a row of L and what is outside of its block, or of U.
void BoundedLu::count_terms() {
  std::vector<int> below(at(size()), 1), above(at(size()), 1);
  terms_of_factors_ = 0;
  for (std::size_t j = 0; j < at(size()); ++j) {
    for_each_beside(factors_.lower, j, [&](std::size_t i, double) { ++below[i]; });
    for_each_beside(factors_.outside, j, [&](std::size_t i, double) { ++below[i]; });
    for_each_beside(factors_.upper, j, [&](std::size_t i, double) { ++above[i]; });
    terms_of_factors_ = std::max(terms_of_factors_, factors_.upper.start[j + 1] - factors_.upper.start[j]);
  }
  terms_of_solution_ = 0;
  for (std::size_t i = 0; i < at(size()); ++i) terms_of_solution_ = std::max({terms_of_solution_, below[i], above[i]});
}

/// Columns that one row holds are of one part.
void BoundedLu::find_parts() {
  DisjointSets sets(size());
  for (int i = 0; i < size(); ++i) {
    int first = -1;
    for (int k = pattern_.start[at(i)]; k < pattern_.start[at(i) + 1]; ++k) {
      if (values_[at(k)] == 0) continue;
      if (first >= 0) sets.join(first, pattern_.column[at(k)]);
      first = pattern_.column[at(k)];
    }
  }
  parts_ = 0;
  for (int j = 0; j < size(); ++j) part_[at(j)] = sets.root(j) == j ? parts_++ : part_[at(sets.root(j))];
}

void BoundedLu::solve(double* x) const {
  std::copy(x, x + size(), work_.data());
  lu_.solve(work_);
  std::copy(work_.data(), work_.data() + size(), x);
}

void BoundedLu::solve_transposed(double* x) const {
  std::copy(x, x + size(), work_.data());
  lu_.solve_transposed(work_);
  std::copy(work_.data(), work_.data() + size(), x);
}

template <class Number>
void BoundedLu::add_sizes(Number* x) const {
  const std::size_t n = at(size());
  std::vector<Number> y(n);
  for (std::size_t i = 0; i < n; ++i) y[i] = x[factors_.row[i]];
  linear::add_sizes(factors_, y.data());
  for (std::size_t j = 0; j < n; ++j) x[factors_.column[j]] = y[j];
}

/// Those outside of blocks are entries of the matrix: what they are multiplied by is rounded in a solution like the rest.
template <class Number>
void BoundedLu::multiply_sizes(Number* x) const {
  const std::size_t n = at(size());
  std::vector<Number> y(n), outside(n, Number{});
  for (std::size_t j = 0; j < n; ++j) y[j] = x[factors_.column[j]];
  for (std::size_t j = 0; j < n; ++j)
    for_each_beside(factors_.outside, j, [&](std::size_t i, double entry) { outside[i] += entry * y[j]; });
  for (std::size_t j = 0; j < n; ++j) {
    for_each_beside(factors_.upper, j, [&](std::size_t i, double entry) { y[i] += entry * y[j]; });
    y[j] *= pivot(factors_.upper, j);
  }
  for (std::size_t j = n; j-- > 0;)
    for_each_beside(factors_.lower, j, [&](std::size_t i, double entry) { y[i] += entry * y[j]; });
  for (std::size_t i = 0; i < n; ++i) x[factors_.row[i]] = y[i] + outside[i];
}

template class WeightedBounds<BoundedLu>;

}  // namespace perp::linear

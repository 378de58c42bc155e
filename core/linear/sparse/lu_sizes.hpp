#pragma once

#include <cmath>
#include <cstddef>

#include <perp/core/base/index.hpp>
#include <perp/core/linear/sparse_lu.hpp>

namespace perp::linear {

/// work(row, value) for the entries of a column.
template <class Work>
void for_each(const SparseLu::Columns& columns, std::size_t j, const Work& work) {
  for (auto k = at(columns.start[j]); k < at(columns.start[j + 1]); ++k) work(columns.row[k], columns.value[k]);
}

/// work(row, size) for those that are not on the diagonal.
template <class Work>
void for_each_beside(const SparseLu::Columns& columns, std::size_t j, const Work& work) {
  for_each(columns, j, [&](int i, double value) {
    if (at(i) != j) work(at(i), std::abs(value));
  });
}

/// |u_jj|: KLU writes it behind the others of its column.
inline double pivot(const SparseLu::Columns& upper, std::size_t j) { return std::abs(upper.value[at(upper.start[j + 1]) - 1]); }

/// y >= 0, by rows of P A Q, becomes the least bound that the sizes of its factors know of |(P A Q)⁻¹| y but for rounding:
/// <U>⁻¹ <L>⁻¹ of each block from the last one, with the sizes of what is outside of blocks. All terms are positive.
template <class Number>
void add_sizes(const SparseLu::Parts& factors, Number* y) {
  const auto pass_on = [&](const SparseLu::Columns& columns, std::size_t j) {
    for_each_beside(columns, j, [&, from = y[j]](std::size_t i, double entry) { y[i] += entry * from; });
  };
  for (std::size_t block = factors.block.size() - 1; block-- > 0;) {
    const std::size_t first = at(factors.block[block]), end = at(factors.block[block + 1]);
    for (std::size_t j = first; j < end; ++j) pass_on(factors.lower, j);
    for (std::size_t j = end; j-- > first;) {
      y[j] /= pivot(factors.upper, j);
      pass_on(factors.upper, j);
    }
    for (std::size_t j = first; j < end; ++j) pass_on(factors.outside, j);
  }
}

}  // namespace perp::linear

#pragma once

#include <optional>
#include <utility>
#include <vector>

#include <perp/lcp/exact/decided_sign.hpp>

namespace perp {

/// Of a square matrix, by Gaussian elimination.
Rational determinant(std::vector<std::vector<Rational>> rows);

/// Subtracts row k from those below, which leaves 0 there in column k.
template <class Scalar>
void clear_below(std::vector<std::vector<Scalar>>& rows, std::size_t k) {
  for (std::size_t i = k + 1; i < rows.size(); ++i) {
    if (is_zero(rows[i][k])) continue;
    const Scalar factor = rows[i][k] / rows[k][k];
    for (std::size_t j = k + 1; j < rows.size(); ++j)
      subtract_product(rows[i][j], factor, rows[k][j]);
  }
}

/// Row and column of the largest entry from row and column k on; n for both where all are 0.
template <class Scalar>
std::pair<std::size_t, std::size_t> largest_from(const std::vector<std::vector<Scalar>>& rows,
                                                 std::size_t k) {
  const std::size_t n = rows.size();
  std::size_t row = n, column = n;
  for (std::size_t i = k; i < n; ++i)
    for (std::size_t j = k; j < n; ++j)
      if (!is_zero(rows[i][j]) && (row == n || is_larger(rows[i][j], rows[row][column]))) {
        row = i;
        column = j;
      }
  return {row, column};
}

/// Sign of the determinant of a square matrix whose entries have bounds, 0 for a singular one, by Gaussian
/// elimination with complete pivoting. Nothing where the bounds do not decide it.
template <class Scalar>
std::optional<int> determinant_sign(std::vector<std::vector<Scalar>> rows) {
  const std::size_t n = rows.size();
  int sign = 1;
  for (std::size_t k = 0; k < n; ++k) {
    const auto [row, column] = largest_from(rows, k);
    if (row == n) return 0;
    const int of_pivot = decided_sign(rows[row][column]);
    if (of_pivot == 0) return std::nullopt;
    sign *= (row == k ? 1 : -1) * (column == k ? 1 : -1) * of_pivot;
    std::swap(rows[k], rows[row]);
    for (std::size_t i = k; i < n; ++i) std::swap(rows[i][k], rows[i][column]);
    clear_below(rows, k);
  }
  return sign;
}

}  // namespace perp

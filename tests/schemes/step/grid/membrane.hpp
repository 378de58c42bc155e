#pragma once

#include <cmath>
#include <numbers>
#include <vector>

#include <perp/core/system/sparse_lcs.hpp>

namespace perp::test {

/// u' = Δu - 8 + r, 0 <= u + 0.05 ⊥ r >= 0 on N×N nodes within the unit square, and u = 0 at its border.
inline SparseLcs membrane(int N) {
  using linear::SparseMatrix;
  const int n = N * N;
  const double by = (N + 1.0) * (N + 1.0);
  std::vector<SparseMatrix::Placed> one, laplacian;
  for (int i = 0; i < n; ++i) {
    one.push_back({i, i, 1});
    laplacian.push_back({i, i, -4 * by});
    if (i % N > 0) laplacian.push_back({i, i - 1, by});
    if (i % N < N - 1) laplacian.push_back({i, i + 1, by});
    if (i >= N) laplacian.push_back({i, i - N, by});
    if (i < n - N) laplacian.push_back({i, i + N, by});
  }
  const SparseMatrix identity(n, n, one);
  return {.E = identity,
          .A = SparseMatrix(n, n, laplacian),
          .B = identity,
          .b = Signal(Vector::Constant(n, -8)),
          .C = identity,
          .D = SparseMatrix(n, n),
          .q = Signal(Vector::Constant(n, 0.05)),
          .laws = std::vector<Law>(static_cast<std::size_t>(n), complementarity())};
}

/// A bow above the obstacle.
inline Vector membrane_start(int N) {
  Vector x(N * N);
  for (int i = 0; i < N * N; ++i) {
    const auto arch = [N](int k) { return std::sin(std::numbers::pi * (k + 1) / (N + 1)); };
    x[i] = 0.1 * arch(i / N) * arch(i % N);
  }
  return x;
}

}  // namespace perp::test

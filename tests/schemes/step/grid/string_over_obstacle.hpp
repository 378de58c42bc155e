#pragma once

#include <cmath>
#include <numbers>

#include <perp/core/base/index.hpp>
#include <perp/core/system/sparse_lcs.hpp>

namespace perp::test {

/// A string of n nodes that a load presses onto an obstacle below it.
inline SparseLcs string_over_obstacle(int n) {
  const double stiffness = (n + 1.0) * (n + 1.0);
  std::vector<linear::SparseMatrix::Placed> A, identity;
  for (int i = 0; i < n; ++i) {
    if (i > 0) A.push_back({i, i - 1, stiffness});
    A.push_back({i, i, -2 * stiffness});
    if (i + 1 < n) A.push_back({i, i + 1, stiffness});
    identity.push_back({i, i, 1});
  }
  const linear::SparseMatrix one(n, n, identity);
  return {.E = one,
          .A = linear::SparseMatrix(n, n, A),
          .B = one,
          .b = Signal(Vector(Vector::Constant(n, -8))),
          .C = one,
          .D = linear::SparseMatrix(n, n),
          .q = Signal(Vector(Vector::Constant(n, 0.05))),
          .laws = std::vector<Law>(at(n), complementarity())};
}

/// Its first state, an arch.
inline Vector string_start(int n) {
  Vector x0(n);
  for (int i = 0; i < n; ++i) x0[i] = 0.1 * std::sin(std::numbers::pi * (i + 1) / (n + 1));
  return x0;
}

}  // namespace perp::test

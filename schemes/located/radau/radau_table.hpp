#pragma once

#include <complex>
#include <vector>

#include <perp/core/base/types.hpp>

namespace perp {

/// Coefficients of Radau IIA with s stages, correct to the last bit of a double.
struct RadauTable {
  int stages = 0;
  Vector c;  ///< s nodes, roots of P_s - P_{s-1} on [0, 1]; the last is 1
  Matrix A;  ///< s×s: ∫_0^{c_i} ℓ_j
  Matrix A_inverse;
  /// A⁻¹ = T Λ T⁻¹; Λ has the real eigenvalue `mu` first, then for every pair α ± iβ a block
  /// [α β; -β α], which is the multiplication by α - iβ of (first entry) + i (second entry).
  Matrix T, T_inverse;
  double mu = 0;
  std::vector<std::complex<double>> pairs;  ///< α - iβ, β > 0
  Vector nodes;                             ///< s + 1: 0, c_1..c_s
  Vector weights;  ///< barycentric, of these nodes: Π_k≠j 1/(nodes_j - nodes_k)

  /// The Lagrange polynomials ℓ_0..ℓ_s of the nodes 0, c_1..c_s at x, and their derivatives.
  /// l has s + 1 entries.
  void basis(double x, Eigen::Ref<Vector> l) const;
  void basis_derivative(double x, Eigen::Ref<Vector> l) const;
};

/// The table for any odd number of stages >= 1. Throws InvalidInput for others.
RadauTable radau_table(int stages);

}  // namespace perp

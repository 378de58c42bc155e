#pragma once

#include <optional>
#include <vector>

#include <perp/core/dcs.hpp>
#include <perp/core/lcs.hpp>
#include <perp/core/linear/sparse/sparse_matrix.hpp>

namespace perp {

/// An Lcs by the entries of its matrices that are not 0, nothing left out:
///     E ẋ = A x + B λ + b(t),   w = C x + D λ + q(t),   (w_i, λ_i) ∈ graph of law_i
struct SparseLcs {
  linear::SparseMatrix E;   ///< n×n
  linear::SparseMatrix A;   ///< n×n
  linear::SparseMatrix B;   ///< n×m
  Signal b;                 ///< n
  linear::SparseMatrix C;   ///< m×n
  linear::SparseMatrix D;   ///< m×m
  Signal q;                 ///< m
  Laws laws{};  ///< m

  /// Number of variables.
  [[nodiscard]] int n() const { return A.rows(); }
  /// Number of laws.
  [[nodiscard]] int m() const { return static_cast<int>(laws.size()); }
};

/// Unknowns (x, λ) of an affine system up to which a model keeps it with full matrices; of more they cost more than all
/// else, and it is kept as functions.
inline constexpr int most_full_unknowns = 1024;

/// The same system. Throws InvalidInput, see `validated`.
SparseLcs sparse(const Lcs& lcs);
/// The same system.
Lcs dense(const SparseLcs& lcs);

/// See `as_lcs`.
std::optional<SparseLcs> as_sparse_lcs(const Dcs& system);
/// `as_lcs` where it has no more than `most_full_unknowns`.
std::optional<Lcs> as_full_lcs(const Dcs& system);
/// See `as_dcs`.
Dcs as_dcs(const SparseLcs& lcs);

}  // namespace perp

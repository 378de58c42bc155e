#pragma once

#include <vector>

#include <perp/core/base/types.hpp>
#include <perp/core/law.hpp>
#include <perp/core/signal.hpp>

namespace perp {

/// Linear complementarity system, constant matrices:
///     E ẋ = A x + B λ + b(t),   w = C x + D λ + q(t),   (w_i, λ_i) ∈ graph of law_i
/// x holds differential and algebraic variables alike: E may be singular.
struct Lcs {
  Matrix E{};               ///< n×n; empty: identity
  Matrix A;                 ///< n×n
  Matrix B{};               ///< n×m
  Signal b{};               ///< n; empty: 0
  Matrix C{};               ///< m×n
  Matrix D{};               ///< m×m; empty: 0
  Signal q{};               ///< m; empty: 0
  Laws laws{};              ///< m

  /// Number of variables.
  [[nodiscard]] int n() const { return static_cast<int>(A.rows()); }
  /// Number of laws.
  [[nodiscard]] int m() const { return static_cast<int>(laws.size()); }
};

/// Throws InvalidInput where a shape does not fit ("C must be 3x3 but is 2x3"), an entry is not finite, or a law is
/// unusable.
void validate(const Lcs& lcs);
/// The same system with the empty members filled in. Throws InvalidInput, see `validate`.
Lcs validated(Lcs lcs);

}  // namespace perp

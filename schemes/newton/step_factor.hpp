#pragma once

#include <optional>
#include <vector>

#include <perp/core/linear/dense_lu.hpp>
#include <perp/core/linear/sparse/scaled_lu.hpp>
#include <perp/schemes/step/implicit_step.hpp>

namespace perp {

/// Factors of the matrix of an ImplicitStep, as it was linearised last: of the full matrix, or of its entries where the step is
/// large. A large matrix that is singular gets a full one, too, unless it is too large for that.
class StepFactor {
 public:
  explicit StepFactor(const ImplicitStep& step);

  /// False: singular to rounding.
  bool factorise();
  /// x becomes J⁻¹ x, or J⁻ᵀ x. The matrix must be regular.
  ///@{
  void solve(double* x) const;
  void solve_transposed(double* x) const;
  ///@}
  /// Are its factors those of a sparse matrix, by blocks?
  [[nodiscard]] bool is_sparse() const { return !is_full_; }
  /// x >= 0 becomes a bound of |J⁻¹| x by the factors alone, see ScaledLu and DenseLu.
  void bound(double* x) {
    if (is_full_)
      full_.bound(x);
    else
      sparse_->bound(x);
  }
  [[nodiscard]] int determinant_sign() const;
  [[nodiscard]] double column_scale(int j) const;

  // Of a singular matrix, see DenseLu.
  /// Nothing where it is too large: a step that is 0 and nothing that contradicts.
  DenseLu::Remainder solve_least_squares(double* x) const;
  /// False where it is too large to tell.
  [[nodiscard]] bool determines(int count) const;
  [[nodiscard]] bool is_too_large() const;

  /// What later factorizations depend on.
  void transfer(Archive& archive);

 private:
  bool factorise_sparse();

  const ImplicitStep& step_;
  DenseLu full_;
  bool is_full_ = true;
  std::optional<linear::ScaledLu> sparse_;
};

}  // namespace perp

#pragma once

#include <optional>
#include <utility>

#include <perp/core/linear/banded/banded_lu.hpp>
#include <perp/core/linear/sparse/bounded_lu.hpp>

namespace perp {

/// The factors of the matrix of a step at one point: in the bands of its entries or, where these are wide, sparse.
class PointFactors {
 public:
  PointFactors() = default;
  explicit PointFactors(linear::BandedLu banded) : banded_(std::move(banded)) {}
  explicit PointFactors(linear::BoundedLu sparse) : sparse_(std::move(sparse)) {}

  /// May pivots stay on the diagonal that are not the largest? Sparse factors let them anyway.
  [[nodiscard]] bool may_keep_diagonal() const { return !sparse_; }
  /// Of a row, at most or on the average.
  [[nodiscard]] int width() const {
    return sparse_ ? static_cast<int>(sparse_->numbers() / sparse_->size()) : banded_.width();
  }
  void clear() { sparse_ ? sparse_->clear() : banded_.clear(); }
  void add(int i, int j, double value) {
    if (sparse_)
      sparse_->add(i, j, value);
    else
      banded_.entry(i, j) += value;
  }
  /// False: singular, or too near to it. A pivot of bands stays on the diagonal from this share of the largest of its column
  /// on, see `BandedLu::factorise`; sparse factors prefer the diagonal by themselves.
  bool factorise(double least) { return sparse_ ? sparse_->factorise() : banded_.factorise(least); }
  /// See `WeightedBounds`.
  ///@{
  bool find_weights() { return sparse_ ? find_sparse_weights() : banded_.find_weights(); }
  bool bound_by_weights(double* x) const { return sparse_ ? sparse_->bound_by_weights(x) : banded_.bound_by_weights(x); }
  bool bound_by_weights(double* first, double* second, const int* rows, const int* columns) {
    return sparse_ ? sparse_->bound_by_weights(first, second, rows, columns) : banded_.bound_by_weights(first, second, rows, columns);
  }
  void bound_rest(double* x) const { sparse_ ? sparse_->bound_rest(x) : banded_.bound_rest(x); }
  ///@}
  void solve(double* x) const { sparse_ ? sparse_->solve(x) : banded_.solve(x); }
  void solve_transposed(double* x) const { sparse_ ? sparse_->solve_transposed(x) : banded_.solve_transposed(x); }

  /// What later sparse factors depend on; bands remember nothing.
  void transfer(Archive& archive) {
    if (sparse_) sparse_->transfer(archive);
  }

 private:
  /// With pivots that were kept, or else with others.
  bool find_sparse_weights() { return sparse_->find_weights() || (sparse_->factorise_anew() && sparse_->find_weights()); }

  linear::BandedLu banded_;
  std::optional<linear::BoundedLu> sparse_;
};

}  // namespace perp

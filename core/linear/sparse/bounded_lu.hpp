#pragma once

#include <vector>

#include <perp/core/linear/sparse/scaled_lu.hpp>
#include <perp/core/linear/banded/weighted_bounds.hpp>

namespace perp::linear {

/// P A Q = L U of a sparse matrix, block triangular, whose solutions have bounds: what `BandedLu` does where an order of few
/// numbers has no narrow bands, as that of a plane or a net. The order is found once, by the pattern, whose entries may be 0, and pivots are kept as long as they serve.
class BoundedLu : public WeightedBounds<BoundedLu> {
 public:
  explicit BoundedLu(RowPattern pattern);

  [[nodiscard]] int size() const { return pattern_.size(); }
  /// Numbers of the factors, operations of a factorization: see `SparseLu`.
  [[nodiscard]] double numbers() const { return lu_.numbers(); }
  [[nodiscard]] double operations() const { return lu_.operations(); }

  /// All entries become 0.
  void clear();
  /// To the entry at (i, j), which must be in the pattern, before `factorise`.
  void add(int i, int j, double value);
  /// False: the matrix is singular, or near to it.
  bool factorise();
  /// The same with pivots that are searched for these entries, whatever was factorised before.
  bool factorise_anew();
  /// x becomes A⁻¹ x.
  void solve(double* x) const;
  /// x becomes A⁻ᵀ x.
  void solve_transposed(double* x) const;
  /// What later factorizations depend on; into one of the same pattern.
  void transfer(Archive& archive) { lu_.transfer(archive); }

 private:
  friend class WeightedBounds<BoundedLu>;
  template <class Number>
  void add_sizes(Number* x) const;
  template <class Number>
  void multiply_sizes(Number* x) const;
  [[nodiscard]] int terms_of_factors() const { return terms_of_factors_; }
  [[nodiscard]] int terms_of_solution() const { return terms_of_solution_; }
  bool find_all();
  void count_terms();
  void find_parts();

  RowPattern pattern_;
  SparseLu lu_;
  std::vector<double> values_;
  SparseLu::Parts factors_;
  int terms_of_factors_ = 0, terms_of_solution_ = 0;
  mutable Vector work_;
};

extern template class WeightedBounds<BoundedLu>;

}  // namespace perp::linear

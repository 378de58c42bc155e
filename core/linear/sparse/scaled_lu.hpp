#pragma once

#include <vector>

#include <perp/core/linear/sparse_lu.hpp>

namespace perp::linear {

/// A square matrix whose entries stand at fixed places, row by row with increasing columns.
struct RowPattern {
  std::vector<int> start{0}, column{};
  [[nodiscard]] int size() const { return static_cast<int>(start.size()) - 1; }
  /// The number of the entry, which must be one.
  [[nodiscard]] int place(int row, int column_of_entry) const;
  friend bool operator==(const RowPattern&, const RowPattern&) = default;
};

/// Of all entries, in their order.
std::vector<Place> places_of(const RowPattern& pattern);

/// What `DenseLu` does, of a matrix by its entries: it is scaled by the same powers of two, and singular is what has no
/// pivot but rounding of the terms that were subtracted. By blocks of the block triangular form, too.
class ScaledLu {
 public:
  explicit ScaledLu(const RowPattern& pattern);

  [[nodiscard]] const RowPattern& pattern() const { return pattern_; }
  /// `entries` in the order of the pattern; unknowns have the units 2^units[j]. False if singular to rounding.
  bool factorise(const double* entries, const int* units);
  /// x becomes A⁻¹ x, or A⁻ᵀ x.
  ///@{
  void solve(double* x) const;
  void solve_transposed(double* x) const;
  ///@}
  /// x >= 0 becomes a bound of |A⁻¹| x, entry by entry, but for rounding: by the sizes of the factors, which may be far too
  /// large.
  void bound(double* x);
  [[nodiscard]] int determinant_sign() const { return lu_.determinant_sign(); }
  [[nodiscard]] double column_scale(int j) const { return column_scale_[static_cast<std::size_t>(j)]; }
  /// What later factorizations and solutions depend on; into one of the same pattern.
  void transfer(Archive& archive);

 private:
  void scale(const double* entries, const int* units);
  void scale_row(std::size_t i, const double* entries, const int* units);
  bool has_pivots();
  std::vector<double> terms_of_pivots();
  void find_parts();

  RowPattern pattern_;
  SparseLu lu_;
  std::vector<double> scaled_, row_scale_, column_scale_;
  std::vector<int> exponents_;
  SparseLu::Parts parts_;
  bool has_parts_ = false;
  mutable Vector work_;
};

}  // namespace perp::linear

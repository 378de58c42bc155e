#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <perp/core/base/types.hpp>
#include <perp/core/linear/structure.hpp>
#include <perp/core/linear/banded/weighted_bounds.hpp>

namespace perp::linear {

/// An order of the rows and columns of a square matrix, both alike, that brings its entries near
/// the diagonal (Cuthill and McKee, reversed): the new place of each. `rows`: where entries are,
/// see `Pattern`.
std::vector<int> banded_order(const Pattern& rows);

/// The same of rows and columns for themselves, with the bands that hold the entries.
struct BandedOrder {
  std::vector<int> rows, columns;  ///< the new place of each
  int below = 0, above = 0;

  /// That the factors keep.
  [[nodiscard]] double numbers() const { return (2.0 * below + above + 1.0) * static_cast<double>(rows.size()); }
};

/// Rows and columns alike, or, where the bands are wide then and a row does not hold its own column, rows beside columns that
/// they hold, the first ones of their lists: equations in another order than their unknowns.
BandedOrder banded_order_of(const Pattern& rows);

/// P A = L U of a banded matrix with partial pivoting; of a full one where the bands say so. All
/// storage is made once. What it solves has bounds.
class BandedLu : public WeightedBounds<BandedLu> {
 public:
  BandedLu() = default;
  /// Entries at (i, j) with i - below <= j <= i + above.
  BandedLu(int n, int below, int above);

  [[nodiscard]] int size() const { return n_; }
  /// Numbers of a row.
  [[nodiscard]] int width() const { return width_; }
  /// Numbers kept.
  [[nodiscard]] std::size_t storage() const { return entries_.size(); }

  /// All entries become 0.
  void clear();
  /// The entry at (i, j) within the bands, before `factorise`.
  [[nodiscard]] double& entry(int i, int j) { return row(i)[j]; }
  /// False: a pivot is 0 or not finite. A pivot stays on the diagonal where that is at least `least` of the largest of its
  /// column: with less than 1 factors of a matrix whose diagonal is large enough are those without exchanges.
  bool factorise(double least = 1);

  /// x becomes A⁻¹ x.
  void solve(double* x) const;
  /// x becomes A⁻ᵀ x.
  void solve_transposed(double* x) const;
  /// x >= 0 becomes a bound of |A⁻¹| x, entry by entry, with the rounding of the factors; false:
  /// they are too far from A to tell. `work`: n numbers.
  bool bound(double* x, double* work) const;

 private:
  friend class WeightedBounds<BandedLu>;
  [[nodiscard]] double* row(int i) { return entries_.data() + offset(i); }
  [[nodiscard]] const double* row(int i) const { return entries_.data() + offset(i); }
  /// Of the place that column 0 would have.
  [[nodiscard]] std::ptrdiff_t offset(int i) const {
    return static_cast<std::ptrdiff_t>(i) * width_ + (below_ - i);
  }
  [[nodiscard]] int pivot_row(int k, double least) const;
  void eliminate(int k);
  /// As the rows were when column k was eliminated; most stayed where they were, which costs nothing then.
  template <class Number>
  void exchange(Number* x, int k) const {
    if (const int other = pivot_[static_cast<std::size_t>(k)]; other != k) std::swap(x[k], x[other]);
  }
  template <class Number>
  void forward_bound(Number* x) const;
  template <class Number>
  void backward_bound(Number* x) const;
  void find_parts();
  /// Terms of a sum that makes an entry of the factors; of one in a solution.
  [[nodiscard]] int terms_of_factors() const { return span_; }
  [[nodiscard]] int terms_of_solution() const { return std::max(span_, longest_ + 1); }
  template <class Number>
  void add_sizes(Number* x) const {
    forward_bound(x);
    backward_bound(x);
  }
  template <class Number>
  void multiply_sizes(Number* x) const;
  [[nodiscard]] int last_row(int k) const { return std::min(k + below_, n_ - 1); }
  [[nodiscard]] int last_column(int k) const { return std::min(k + reach_, n_ - 1); }

  int n_ = 0, below_ = 0, reach_ = 0, width_ = 0;  // reach: of U beyond the diagonal
  std::vector<double> entries_;
  std::vector<int> pivot_;
  std::vector<int> end_of_l_, end_of_u_;  // behind the last entry of each column of L and of each row of U
  std::vector<int> in_row_;               // entries of each row of L
  int longest_ = 0, span_ = 0;            // the most of them; from the diagonal to the last entry of a row of U
};

extern template class WeightedBounds<BandedLu>;

}  // namespace perp::linear

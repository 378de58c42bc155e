#pragma once

#include <cstddef>
#include <vector>

#include <perp/lcp/parametric/mode_map.hpp>
#include <perp/lcp/parametric/refined_solution.hpp>

namespace perp {

/// The solution of one regular mode of a family at one θ after the other, K (u, λ) = R (θ, 1): where the rows
/// of a map, one solution for each entry of θ, would cost more than the few θ that are asked for. Numbers are
/// known to about 2^-98 of their terms, as those of a map. The family must outlive it.
class ModePoints {
 public:
  /// Numbers with bounds.
  struct Values {
    BoundedMatrix value;  ///< one column, with what is missing at exactly this θ
    Vector terms;         ///< at least Σ |c_j θ_j| + |d| over the terms of the affine function c θ + d
  };
  /// What the mode has at one θ.
  struct Point {
    std::vector<double> theta;
    Values y;        ///< (u, λ)
    Values w;
    Values margins;  ///< in the order of `ends`
  };

  ModePoints(const ParametricMlcp& family, std::vector<Branch> branches, BoundedInverse inverse,
             const BoundedMatrix& R);

  /// Every finite end of a branch.
  [[nodiscard]] const std::vector<ModeMap::Margin>& ends() const { return ends_; }
  /// The last one is kept. Null where its numbers are not finite.
  [[nodiscard]] const Point* at(const double* theta) const;
  /// Σ |c_j θ_j| + |d| over the terms of the margin c θ + d itself, where the bound of a point does not decide.
  [[nodiscard]] double margin_terms(int end, const double* theta) const;
  /// How many different θ in a row were asked for.
  [[nodiscard]] long count() const { return count_; }
  /// Goes on behind so many.
  void set_count(long count) const { count_ = count; }
  [[nodiscard]] std::size_t storage() const { return inverse_.storage(); }

 private:
  struct Entry {
    Eigen::Index column;  ///< of (θ, 1)
    DoubleDouble value;
    double error;
  };

  [[nodiscard]] Values right_side(const double* theta) const;
  bool solve(const double* theta) const;
  void find_w(const double* theta) const;
  bool find_margins(const double* theta) const;
  [[nodiscard]] double own_terms(int end, const double* theta) const;

  const ParametricMlcp* family_;
  std::vector<Branch> branches_;
  std::vector<ModeMap::Margin> ends_;
  std::vector<BoundedEnd> bounds_;  // of each end
  BoundedInverse inverse_;
  std::vector<std::vector<Entry>> R_;  // its entries that are not 0, row by row
  mutable Point point_;
  mutable bool is_known_ = false;
  mutable long count_ = 0;
};

}  // namespace perp

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include <perp/core/base/index.hpp>
#include <perp/core/base/types.hpp>

namespace perp::linear {

/// Bounds of what factors of a matrix A solve. |U|⁻¹ and |L|⁻¹ in comparison form are at least |U⁻¹| and |L⁻¹|, entry by entry,
/// and cost one more solution each. `Factors` derives from this and gives, to this class alone,
///     size(), terms_of_factors()   unknowns; terms of a sum that makes an entry of the factors
///     terms_of_solution()          of one in a solution
///     add_sizes(x)                 x >= 0 becomes |U|⁻¹ |L|⁻¹ x in comparison form, in the order of the unknowns
///     multiply_sizes(x)            x >= 0, in that order, becomes |L| |U| x in the order of the rows
template <class Factors>
class WeightedBounds {
 public:
  /// After the matrix was factorised, for `bound_by_weights`; false: the factors are too far from A to tell. Then A may be
  /// singular.
  bool find_weights();
  /// x >= 0 becomes a bound of |A⁻¹| x, entry by entry, with the rounding of the factors: what that adds to the largest entry
  /// beside its weight is added to all others of its part, and in more terms where that would be all that is left of the bound
  /// of one. False: one of them is infinite.
  bool bound_by_weights(double* x) const;
  /// Both of two at once, with the bits that each has alone; entry i of the right sides stands at `rows`[i], of the bounds at
  /// `columns`[i].
  bool bound_by_weights(double* first, double* second, const int* rows, const int* columns);
  /// x >= 0 becomes a bound of |A z - b| for |z| <= x, where `solve` has made z of b: what its rounding and that of the
  /// factors leave of the right side, row by row.
  void bound_rest(double* x) const;

 protected:
  using Two [[gnu::vector_size(2 * sizeof(double))]] = double;  // of two right sides
  /// A bound times this is one in whatever sums of positive terms it was computed: they follow each other from row to row.
  [[nodiscard]] double grown_by_sums() const { return 1 + 16 * static_cast<double>(of().size() + 2) * unit_roundoff; }
  /// x becomes T x, see `bound_by_weights`.
  template <class Number>
  void bound_added(Number* x) const;

  std::vector<int> part_;  // of each unknown: parts that no row shares
  int parts_ = 0;

 private:
  [[nodiscard]] const Factors& of() const { return static_cast<const Factors&>(*this); }
  [[nodiscard]] int n() const { return of().size(); }
  /// A number of each part, 0 at first; of few parts no memory is asked for.
  template <class Number>
  class Shares {
   public:
    explicit Shares(std::size_t parts) : many_(parts > few_.size() ? parts : 0) {}
    Number& operator[](std::size_t part) { return many_.empty() ? few_[part] : many_[part]; }
    const Number& operator[](std::size_t part) const { return many_.empty() ? few_[part] : many_[part]; }

   private:
    std::array<Number, 4> few_{};
    std::vector<Number> many_;
  };
  template <class Number>
  [[nodiscard]] Shares<Number> largest_shares(const Number* x) const;
  template <class Number>
  [[nodiscard]] bool drown(const Shares<Number>& shares, const Number* x) const;
  template <class Number>
  void add_by_weights(Number* x) const;
  static bool any(int first) { return first != 0; }
  template <class Both>
  static bool any(const Both& both) {
    return both[0] != 0 || both[1] != 0;
  }

  std::vector<double> weight_, added_;  // v and 2 T v
  std::vector<Two> two_;
};

template <class Factors>
template <class Number>
void WeightedBounds<Factors>::bound_added(Number* x) const {
  const double each = static_cast<double>(of().terms_of_factors() + 2) * unit_roundoff;
  of().multiply_sizes(x);
  for (int i = 0; i < n(); ++i) x[i] *= 2 * each;
  of().add_sizes(x);
}

template <class Factors>
bool WeightedBounds<Factors>::find_weights() {
  const double grown = grown_by_sums();
  weight_.assign(at(n()), 1.0);
  of().add_sizes(weight_.data());
  added_ = weight_;
  bound_added(added_.data());
  for (int i = 0; i < n(); ++i) {
    if (!(grown * added_[at(i)] <= 0.5 * weight_[at(i)] && weight_[at(i)] < inf)) return false;
    added_[at(i)] *= 2 * grown;
  }
  return true;
}

/// Of each part, beside the weights.
template <class Factors>
template <class Number>
auto WeightedBounds<Factors>::largest_shares(const Number* x) const -> Shares<Number> {
  Shares<Number> shares(at(parts_));
  for (int i = 0; i < n(); ++i) {
    const Number share = x[i] / weight_[at(i)];
    Number& most = shares[at(part_[at(i)])];
    most = share > most ? share : most;
  }
  return shares;
}

/// Are these shares of what the rounding of the factors adds more than some entry of x?
template <class Factors>
template <class Number>
bool WeightedBounds<Factors>::drown(const Shares<Number>& shares, const Number* x) const {
  for (int i = 0; i < n(); ++i)
    if (any((x[i] < shares[at(part_[at(i)])] * added_[at(i)]) & (x[i] > Number{}))) return true;
  return false;
}

// Parts that share no row are solved for themselves, each in units of its own: what stands in one is no matter for another.
// With P A = L U - F, |F| <= k u / (1 - k u) |L| |U| (Higham, Accuracy and Stability, 9.3), k the terms of an entry of L U,
// z = |U|⁻¹ |L|⁻¹ P x in comparison form, T = |U|⁻¹ |L|⁻¹ |F| likewise, and weights v with T v <= v/2: |A⁻¹| x <= z + T z +
// T² z + ..., and T^l z <= k v gives z + ... <= z + ... + T^l z + 2 k T v, where l is the first that leaves no entry of that
// sum less than its share of 2 k T v: entries that others do not act on keep their bounds, however large those of the others
// are beside their weights.
template <class Factors>
template <class Number>
void WeightedBounds<Factors>::add_by_weights(Number* x) const {
  constexpr int most_terms = 4;
  const double grown = grown_by_sums();
  of().add_sizes(x);
  std::vector<Number> term;
  for (int l = 0;; ++l) {
    const Shares<Number> most = largest_shares(l == 0 ? x : term.data());
    if (l == most_terms || !drown(most, x)) {
      for (int i = 0; i < n(); ++i) x[i] = grown * (x[i] + most[at(part_[at(i)])] * added_[at(i)]);
      return;
    }
    if (l == 0) term.assign(x, x + n());
    bound_added(term.data());
    for (int i = 0; i < n(); ++i) x[i] += term[at(i)];
  }
}

template <class Factors>
bool WeightedBounds<Factors>::bound_by_weights(double* x) const {
  add_by_weights(x);
  return std::all_of(x, x + n(), [](double entry) { return entry < inf; });
}

template <class Factors>
bool WeightedBounds<Factors>::bound_by_weights(double* first, double* second, const int* rows, const int* columns) {
  two_.resize(at(n()));
  for (int i = 0; i < n(); ++i) two_[at(rows[i])] = Two{first[i], second[i]};
  add_by_weights(two_.data());
  bool is_bounded = true;
  for (int i = 0; i < n(); ++i) {
    const Two both = two_[at(columns[i])];
    first[i] = both[0], second[i] = both[1];
    is_bounded = is_bounded && both[0] < inf && both[1] < inf;
  }
  return is_bounded;
}

// (L + dL) (U + dU) z = P b with |dL| |U| + |L| |dU| <= 3 k u / (1 - 3 k u) |L| |U| (Higham, Accuracy and Stability, 9.4),
// k the terms of a row of L or U, the rounding of the factors included; 4 u for the entries of A and what is rounded here.
template <class Factors>
void WeightedBounds<Factors>::bound_rest(double* x) const {
  of().multiply_sizes(x);
  const double each = static_cast<double>(3 * of().terms_of_solution() + 4) * unit_roundoff;
  for (int i = 0; i < n(); ++i) x[i] *= each * (1 + 4 * each);
}

}  // namespace perp::linear

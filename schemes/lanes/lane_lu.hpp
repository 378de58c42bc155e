#pragma once

#include <type_traits>

#include <perp/core/linear/dense_lu.hpp>
#include <perp/schemes/lanes/eight.hpp>

namespace perp::eight {

inline constexpr int most_unknowns = 8;

/// DenseLu of eight matrices of one size whose pivots are in the same rows.
struct LaneLu {
  static constexpr long long none = -(1LL << 40);  ///< exponent of a zero
  static constexpr long long exponents = 0x7FFLL << 52;

  int n = 0;
  Eight lu[most_unknowns * most_unknowns];
  Eight row_scale[most_unknowns], column_scale[most_unknowns], of_column[most_unknowns];  ///< the last are 1/column_scale
  Eight scaled[most_unknowns * most_unknowns];  ///< the matrix that was scaled last
  bool is_scaled = false;
  int origin[most_unknowns] = {};
  bool is_odd = false;
  Bits negative;  ///< determinants

  /// The lanes are others: nothing is known of their matrices.
  void forget() {
    is_scaled = is_odd = false;
    for (int i = 0; i < most_unknowns; ++i) origin[i] = i;
  }

  PERP_EIGHT_INLINE static Bits exponent_of(const Eight& value) {
    const Bits field = moved_right(bits_of(value), 52) & all_bits(0x7ff);
    return chosen(field == all_bits(0), all_bits(none), field - all_bits(1023));
  }
  PERP_EIGHT_INLINE static Eight power_of_two(const Bits& exponent) {
    const Bits high = chosen(exponent < all_bits(1000), exponent, all_bits(1000));
    const Bits bounded = chosen(high > all_bits(-1000), high, all_bits(-1000));
    return numbers_of((bounded + all_bits(1023)) << 52);
  }

  PERP_EIGHT_INLINE void scale(const Eight* A, const Bits* units) {
    Bits of_columns[most_unknowns];
    for (int j = 0; j < n; ++j) of_columns[j] = all_bits(none);
    for (int i = 0; i < n; ++i) {
      Bits largest = all_bits(none);
      for (int j = 0; j < n; ++j) {
        const Bits exponent = exponent_of(A[i * n + j]), with_unit = exponent + units[j];
        const Bits counts = (exponent != all_bits(none)) & (with_unit > largest);
        largest = chosen(counts, with_unit, largest);
      }
      const Bits shift = chosen(largest == all_bits(none), all_bits(0), -largest);
      row_scale[i] = power_of_two(shift);
      for (int j = 0; j < n; ++j) {
        const Bits exponent = exponent_of(A[i * n + j]), moved = exponent + shift;
        of_columns[j] = chosen((exponent != all_bits(none)) & (moved > of_columns[j]), moved, of_columns[j]);
      }
    }
    for (int j = 0; j < n; ++j)
      column_scale[j] = power_of_two(chosen(of_columns[j] == all_bits(none), all_bits(0), -of_columns[j]));
    for (int j = 0; j < n; ++j) of_column[j] = all(1) / column_scale[j];
    for (int i = 0; i < n * n; ++i) scaled[i] = A[i];
    is_scaled = true;
  }

  /// Exponents alone decide how it is scaled.
  template <int N>
  PERP_EIGHT_INLINE bool is_scaled_as(const Eight* A) const {
    Bits differs = all_bits(0);
    PERP_EIGHT_UNROLLED
    for (int i = 0; i < N * N; ++i) differs |= bits_of(A[i]) ^ bits_of(scaled[i]);
    return is_scaled && !any(differs & all_bits(exponents));
  }

  /// The row that DenseLu would take for column k, in each lane; -1: none is large enough.
  PERP_EIGHT_INLINE Bits pivots(int k) const {
    Bits pivot = all_bits(-1);
    Eight largest = all(0);
    for (int i = k; i < n; ++i) {
      const Eight size = size_of(lu[i * n + k]);
      const Bits is_it = (size > all(DenseLu::singular_pivot)) & ((pivot < all_bits(0)) | (size > largest));
      pivot = chosen(is_it, all_bits(i), pivot);
      largest = chosen(is_it, size, largest);
    }
    return pivot;
  }

  /// The lanes of `of` whose matrices are regular with the pivots of the first of them.
  PERP_EIGHT_INLINE Bits factorise(const Eight* A, int size, const Bits* units, const Bits& of) {
    if (n != size) forget();
    n = size;
    Bits sure = all_bits(-1);
    with_known_size([&](auto known) __attribute__((always_inline)) { sure = factors_as_before<known>(*this, A, units); });
    if (any(of & ~sure)) return search_pivots(A, of);
    write_signs();
    return of;
  }

  /// work(n) with an n that the compiler knows.
  template <class Work>
  PERP_EIGHT_INLINE void with_known_size(const Work& work) const {
    switch (n) {
      case 0: return;
      case 1: return work(std::integral_constant<int, 1>{});
      case 2: return work(std::integral_constant<int, 2>{});
      case 3: return work(std::integral_constant<int, 3>{});
      case 4: return work(std::integral_constant<int, 4>{});
      case 5: return work(std::integral_constant<int, 5>{});
      case 6: return work(std::integral_constant<int, 6>{});
      case 7: return work(std::integral_constant<int, 7>{});
      default: return work(std::integral_constant<int, 8>{});
    }
  }

  template <int N>
  PERP_EIGHT_PART static Bits factors_as_before(LaneLu& lu, const Eight* A, const Bits* units) {
    if (!lu.is_scaled_as<N>(A)) lu.scale(A, units);
    return lu.factorise_as_before<N>(A);
  }

  /// With the rows in the order of the last time: the lanes in which their pivots are larger than all below them, as those
  /// that are searched for are.
  template <int N>
  PERP_EIGHT_INLINE Bits factorise_as_before(const Eight* A) {
    for (int i = 0; i < N; ++i) {
      const int from = origin[i];
      PERP_EIGHT_UNROLLED
      for (int j = 0; j < N; ++j) lu[i * N + j] = row_scale[from] * A[from * N + j] * column_scale[j];
    }
    Bits sure = all_bits(-1);
    PERP_EIGHT_UNROLLED
    for (int k = 0; k < N; ++k) {
      const Eight largest = size_of(lu[k * N + k]);
      sure &= largest > all(DenseLu::singular_pivot);
      PERP_EIGHT_UNROLLED
      for (int i = k + 1; i < N; ++i) sure &= largest > size_of(lu[i * N + k]);
      PERP_EIGHT_UNROLLED
      for (int i = k + 1; i < N; ++i) eliminate(lu + k * N, lu + i * N, k, N);
    }
    return sure;
  }

  PERP_EIGHT_INLINE static void eliminate(const Eight* pivot, Eight* row, int k, int size) {
    const Bits is_there = row[k] != all(0);
    if (!any(is_there)) return;
    const Eight factor = row[k] / pivot[k];
    put(is_there, row[k], factor);
    for (int j = k + 1; j < size; ++j) put(is_there, row[j], row[j] - factor * pivot[j]);
  }

  PERP_EIGHT_INLINE Bits search_pivots(const Eight* A, const Bits& of) {
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) lu[i * n + j] = row_scale[i] * A[i * n + j] * column_scale[j];
      origin[i] = i;
    }
    Bits good = of;
    is_odd = false;
    for (int k = 0; k < n; ++k) {
      const Bits found = pivots(k);
      int pivot = -1;
      for (int i = width - 1; i >= 0; --i)
        if (good[i] != 0) pivot = static_cast<int>(found[i]);
      if (pivot < 0) {
        forget();
        return all_bits(0);
      }
      good &= found == all_bits(pivot);
      exchange(k, pivot);
      for (int i = k + 1; i < n; ++i) eliminate(lu + k * n, lu + i * n, k, n);
    }
    write_signs();
    return good;
  }

  PERP_EIGHT_INLINE void write_signs() {
    negative = all_bits(is_odd ? -1 : 0);
    for (int i = 0; i < n; ++i) negative ^= lu[i * n + i] < all(0);
  }

  PERP_EIGHT_INLINE void exchange(int k, int pivot) {
    if (pivot == k) return;
    for (int j = 0; j < n; ++j) {
      const Eight other = lu[k * n + j];
      lu[k * n + j] = lu[pivot * n + j];
      lu[pivot * n + j] = other;
    }
    const int from = origin[k];
    origin[k] = origin[pivot];
    origin[pivot] = from;
    is_odd = !is_odd;
  }

  PERP_EIGHT_INLINE void solve(Eight* x) const {
    with_known_size([&](auto known) __attribute__((always_inline)) { solution<known>(*this, x); });
  }
  PERP_EIGHT_INLINE void bound(Eight* x) const {
    with_known_size([&](auto known) __attribute__((always_inline)) { bound_of_solution<known>(*this, x); });
  }

  template <int N>
  PERP_EIGHT_PART static void solution(const LaneLu& of, Eight* x) {
    Eight y[N];
    PERP_EIGHT_UNROLLED
    for (int i = 0; i < N; ++i) {
      Eight sum = of.row_scale[of.origin[i]] * x[of.origin[i]];
      PERP_EIGHT_UNROLLED
      for (int j = 0; j < i; ++j) sum -= of.lu[i * N + j] * y[j];
      y[i] = sum;
    }
    PERP_EIGHT_UNROLLED
    for (int i = N - 1; i >= 0; --i) {
      Eight sum = y[i];
      PERP_EIGHT_UNROLLED
      for (int j = i + 1; j < N; ++j) sum -= of.lu[i * N + j] * y[j];
      y[i] = sum / of.lu[i * N + i];
    }
    for (int j = 0; j < N; ++j) x[j] = of.column_scale[j] * y[j];
  }

  template <int N>
  PERP_EIGHT_PART static void bound_of_solution(const LaneLu& of, Eight* x) {
    Eight y[N];
    PERP_EIGHT_UNROLLED
    for (int i = 0; i < N; ++i) {
      Eight sum = of.row_scale[of.origin[i]] * x[of.origin[i]];
      PERP_EIGHT_UNROLLED
      for (int j = 0; j < i; ++j) sum += size_of(of.lu[i * N + j]) * y[j];
      y[i] = sum;
    }
    PERP_EIGHT_UNROLLED
    for (int i = N - 1; i >= 0; --i) {
      Eight sum = y[i];
      PERP_EIGHT_UNROLLED
      for (int j = i + 1; j < N; ++j) sum += size_of(of.lu[i * N + j]) * y[j];
      y[i] = sum / size_of(of.lu[i * N + i]);
    }
    for (int j = 0; j < N; ++j) x[j] = of.column_scale[j] * y[j];
  }
};

}  // namespace perp::eight
